/** What a developer says with one key; true of who has no wish, and of who does not know. */
export const NO_PREFERENCE =
  'I have no preference and no more information on that; choose what seems sensible to you.';
