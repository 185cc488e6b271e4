/**
 * Id of the element in which the extension host passes the translations to the page. There is no such element when the
 * display language is English.
 */
export const sentencesId = 'tandem-sentences';
