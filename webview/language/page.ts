/**
 * Reads the translations that the page holds. Each page imports this module first, so that nothing is drawn in English
 * before, and later modules can translate sentences in their constants.
 */
import { speak } from '.';
import { sentencesId } from './protocol';

const sentences = document.getElementById(sentencesId);
if (sentences !== null) speak(document.documentElement.lang, sentences.textContent);
