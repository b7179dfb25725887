"""Preprocessing that is learned from the training split: what `rs.make(..., preprocess=...)` takes.

    VocabularyIds   text to ids of words, as Keras' TextVectorization gives them
    BpeIds          text to ids of sub-words, by a tokenizer of Hugging Face
    Tfidf           text to sparse TF-IDF weights, as scikit-learn gives them

Each is fitted on the training split only, after the rows were divided, and then transforms all splits. So nothing about
the test rows gets into the vocabulary or the weights.
"""

from recordsmith.making.preprocessing.bpe_ids import BpeIds
from recordsmith.making.preprocessing.preprocessor import Preprocessor
from recordsmith.making.preprocessing.tfidf import Tfidf
from recordsmith.making.preprocessing.vocabulary_ids import VocabularyIds

__all__ = ["BpeIds", "Preprocessor", "Tfidf", "VocabularyIds"]
