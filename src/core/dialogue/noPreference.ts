/** Reply that a developer sends with one key; it is true of anyone who has no wish or does not know. */
export const NO_PREFERENCE =
  'I have no preference and no more information on that; choose what seems sensible to you.';
