/**
 * The element of the page in which the extension host hands over the sentences of the display language. In English
 * there is none.
 */
export const sentencesId = 'tandem-sentences';
