/** How the simulator by rules says that it has no preference, about all that was asked or about the rest of it. */
export const noPreferenceWordings = {
  noPreference: [
    "I don't mind, do what you think is best.",
    'No preference there, you decide.',
    'I have nothing special in mind for that, so it is up to you.',
    'That does not matter to me.',
    'No opinion on that one, just keep it simple.',
    "I can't say, nothing particular is needed there.",
  ],
  noPreferenceForTheRest: [
    'Apart from that I have no preference.',
    "The rest is up to you, I don't mind.",
    'As for the rest, do what you think is best.',
    'Beyond that I have nothing special in mind.',
  ],
} as const;

/** How people and models say it, or that they do not know. "We don't care about the order" decides something, and is none. */
const FORMS = new RegExp(
  [
    '\\bno (?:(?:strong|real|particular|special) )?(?:preference|opinion|idea)\\b',
    "(?:^|[.!,;] |\\bi (?:(?:really|honestly) )?)(?:do not|don['’]?t) (?:(?:really|even) )?(?:mind|care|know)\\b",
    "\\b(?:do not|don['’]?t) have (?:a|any)(?: (?:strong|real|particular))? (?:preference|opinion|idea)\\b",
    '\\bup to you\\b|\\byou (?:can |may )?(?:decide|choose|pick)\\b|\\byour (?:choice|call|decision)\\b',
    '\\bwhatever you (?:think|like|prefer|want)\\b|\\bwhat(?:ever)? (?:you think is best|seems sensible)\\b',
    "\\b(?:that|it) (?:does not|doesn['’]?t) (?:really )?matter(?: to me\\b|[.!]*$)",
    "\\bi(?:['’]?m| am) not (?:(?:so|really|quite) )?sure\\b|(?:^|[.!,;] )not sure\\b",
    "\\bi (?:cannot|can['’]?t) (?:say|tell)\\b|\\bnothing (?:special|particular)\\b",
    '\\b(?:either|any)(?: way| one)? (?:is|works|would be) (?:fine|ok|okay|good)\\b|\\banything (?:goes|works|is fine)\\b',
    '\\bidk\\b|\\bdunno\\b',
  ].join('|'),
  'im',
);

/** True if any part of the reply says that there is no preference, or that it is not known. */
export const saysNoPreference = (reply: string): boolean =>
  Object.values(noPreferenceWordings).some((all) => all.some((wording) => reply.includes(wording))) ||
  FORMS.test(reply);
