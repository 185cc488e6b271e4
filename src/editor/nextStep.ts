/**
 * Of a list or a field that opens right after another one: that one gives the focus back to the editor when it closes, on a
 * busy machine only after this one has it, and this one must not close for that.
 */
export const NEXT_STEP = { ignoreFocusOut: true } as const;
