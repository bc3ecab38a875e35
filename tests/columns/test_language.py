"""The language of texts and records (T4): prompts as people write them, and what is too short or no language at all."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dagster_project.columns import language
from dagster_project.columns.language import languages, languages_of_records

PROMPTS = {
    "en": ("How do I bake bread without an oven?", "Name the planets, please.", "Why does my cat sleep all day long?"),
    "de": ("Wie backe ich Brot ohne Ofen?", "Warum schläft meine Katze den ganzen Tag?"),
    "fr": ("Comment faire du pain sans four ?", "Pourquoi mon chat dort-il toute la journée ?"),
    "es": ("¿Cómo puedo hacer pan sin horno?", "¿Por qué mi gato duerme todo el día?"),
    "pt": ("Como faço pão sem forno?", "Por que meu gato dorme o dia todo?"),
    "it": ("Come posso fare il pane senza forno?", "Perché il mio gatto dorme tutto il giorno?"),
    "nl": ("Hoe bak ik brood zonder oven?", "Waarom slaapt mijn kat de hele dag?"),
    "pl": ("Jak upiec chleb bez piekarnika?", "Dlaczego mój kot śpi cały dzień?"),
    "ru": ("Как испечь хлеб без духовки?", "Почему моя кошка спит весь день?"),
    "uk": ("Як спекти хліб без духовки?",),
    "tr": ("Fırın olmadan nasıl ekmek yapılır?",),
    "zh": ("没有烤箱怎么做面包？", "为什么我的猫整天睡觉？"),
    "ja": ("オーブンなしでパンを焼くにはどうすればいいですか？",),
    "ko": ("오븐 없이 빵을 어떻게 굽나요?",),
    "ar": ("كيف أخبز الخبز بدون فرن؟",),
    "hi": ("बिना ओवन के रोटी कैसे बनाएं?",),
    "vi": ("Làm thế nào để nướng bánh mì mà không cần lò nướng?",),
}


@pytest.mark.parametrize("language", PROMPTS)
def test_short_prompts(language: str) -> None:
    texts = PROMPTS[language]
    assert languages(pl.Series(texts)).to_list() == [language] * len(texts)


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "42",
        "2 + 2 = ?",
        "ok",
        "```python\nfor the_item in those_items: print(what, how)\n```",
        "https://example.com/die/katze",
        "a@example.com, b@example.com",
        "👍👍👍",
        '{"a": 1}',
        "Xqzwv plorf bnarg",
        "`SELECT name FROM users WHERE id = 1`",
    ],
)
def test_too_short_or_no_language_at_all(text: str | None) -> None:
    assert languages(pl.Series([text], dtype=pl.String)).to_list() == [None]


def test_code_is_not_what_is_judged() -> None:
    code = "```python\n# what should this and that be, and how would you have known the answer?\n```"
    assert languages(
        pl.Series([f"{code}\nWarum läuft dieses Programm nicht?", f"Pourquoi ça ne marche pas ?\n{code}"])
    ).to_list() == [
        "de",
        "fr",
    ]


def test_only_the_begin_is_judged() -> None:
    german = "Die Katze schläft den ganzen Tag auf dem warmen Sofa am Fenster. " * 10
    english = "The cat sleeps all day on the warm sofa that stands by the window. " * 100
    assert languages(pl.Series([german + english, english + german])).to_list() == ["de", "en"]


def test_language_of_a_record_is_of_prompt_and_answer_together() -> None:
    prompts = ["Go on.", "Weiter", "Write me a letter to my landlord in German.", None, "ok"]
    answers = [
        "The second reason is that these loops never end, which you would not notice.",
        "Der zweite Grund ist, dass diese Schleifen nie enden.",
        "Sehr geehrter Herr Maier, hiermit kündige ich die Wohnung zum Ende des Monats. Mit freundlichen Grüßen",
        "El segundo motivo es que estos bucles nunca terminan.",
        "ok",
    ]
    assert languages_of_records(pl.Series(prompts), pl.Series(answers)).to_list() == ["en", "de", "de", "es", None]


@given(
    st.lists(
        st.none() | st.text() | st.sampled_from([text for texts in PROMPTS.values() for text in texts]), max_size=8
    )
)
def test_laws(texts: list[str | None]) -> None:
    """Two letters or nothing; the same for a text whatever stands beside it."""
    found = languages(pl.Series(texts, dtype=pl.String)).to_list()
    assert all(code is None or (len(code) == 2 and code.isalpha() and code.islower()) for code in found)
    assert found == [languages(pl.Series([text], dtype=pl.String)).item() for text in texts]


@given(st.lists(st.one_of(st.none(), st.text("aZ'’ é\n\x00.,1"), st.text()), max_size=8))
def test_words_are_the_same_by_the_table_for_ascii_and_by_the_pattern(texts: list[str | None]) -> None:
    given_texts = pl.Series(texts, dtype=pl.String)
    assert language._words(given_texts).to_list() == given_texts.str.replace_all(language._NO_LETTERS, " ").to_list()
