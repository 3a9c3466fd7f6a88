"""Trained models as files of other programs: CTranslate2, Hugging Face, Argos, ONNX."""
