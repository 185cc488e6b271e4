/**
 * Each view imports this before anything else: the page has the sentences in it, so that nothing is drawn in English
 * first, and the modules that come after may have sentences in their constants.
 */
import { speak } from '.';
import { sentencesId } from './protocol';

const sentences = document.getElementById(sentencesId);
if (sentences !== null) speak(document.documentElement.lang, sentences.textContent);
