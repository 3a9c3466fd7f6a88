"""The row of faults of pages: text that would be code."""

from tests.faults.row import Row

PAGE_ROWS = (
    Row(
        number="T18",
        fault="pages of hostile text: words, names and links that would be markup or code",
        promise="Text is shown as it is and never run. A page asks for nothing, and its content "
        "security policy reports nothing. The short form tries over 200 attacks in words, titles, "
        "sentences and names of runs, the long one 10,000 made-up strings each in attention pages, "
        "the explainer, the curves and the server's page.",
        tests=(
            "view/page/test_document.py"
            "::test_the_browser_reads_hostile_data_back_and_runs_none_of_it",
            "view/attention/test_lines.py"
            "::test_hostile_words_are_shown_as_they_are_and_run_nothing",
            "view/attention/test_fuzz.py"
            "::test_a_thousand_words_are_shown_as_they_are_and_none_runs",
            "view/explainer/test_page.py::test_hostile_sentences_of_the_file_are_inert",
            "view/explainer/test_page.py::test_hostile_sentences_are_shown_and_never_run",
            "view/curves/test_gestures.py::test_hostile_names_are_text",
            "view/test_fuzz_pages.py::test_what_is_typed_into_the_explainer_is_text",
            "view/test_fuzz_pages.py"
            "::test_names_of_runs_scores_and_failures_are_text_in_the_curves",
            "view/test_fuzz_pages.py"
            "::test_texts_and_their_translations_are_text_in_the_translation_page",
        ),
        controls=(
            "view/page/test_document.py::test_a_page_without_the_escapes_runs_them",
            "view/attention/test_fuzz.py::test_the_control_with_plain_json_runs_a_word",
            "view/test_fuzz_pages.py"
            "::test_the_control_that_makes_markup_of_text_runs_what_is_typed_into_the_explainer",
            "view/test_fuzz_pages.py"
            "::test_the_control_that_makes_markup_of_text_runs_a_name_in_the_curves",
        ),
    ),
)
