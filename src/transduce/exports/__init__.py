"""Exports of trained models to other programs: CTranslate2, Hugging Face, Argos, Bergamot, ONNX."""
