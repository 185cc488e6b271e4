/**
 * What decisions are commonly about. A question of such a matter goes to a fact of the same matter even when the two
 * have no word in common: "What is the highest fine?" and "We never ask for more than 10 euros."
 */
export type Matter = keyof typeof matters;

const matters = {
  boundary:
    /\b(?:in|ex)clu(?:sive|sively|ded?|ding)\b|\b(?:exact|precise)(?:ly)?\b|\bboundary\b|\bstrict(?:ly)?\b|\bequal to\b|\bitself\b|\b(?:at|on) the (?:limit|threshold|boundary|edge)\b|\bright (?:at|on)\b|[<>]=?/i,
  threshold:
    /\bthreshold|\blimit\b|\bcut-?off\b|\bkicks? in\b|\b(?:at|from|over|above|below|under|beyond|until|up to|after) (?:which|what|how)\b|\b(?:when|where) (?:does|do|is|are)\b.{0,300}\b(?:starts?|begins?|appl(?:y|ies)|too)\b|\b(?:over|above|from|up to|at least|more than|below|under|until|starts? at) (?:\w+ )?\d|\d (?:\w+ )?or (?:more|less|longer)\b/i,
  maximum:
    /\bmaxim\w+|\bmax\b|\b(?:at|the) most\b|\bcap(?:ped|s)?\b|\bupper (?:limit|bound)\b|\bever\b|\bnever (?:\w+ ){1,3}more\b|\bno more than\b|\bhighest\b|\bbounded\b|\bat most\b|\bstop (?:at|after)\b|\btop \w+\b/i,
  minimum:
    /\bminim\w+|\bmin\b|\bat least\b|\bfewest\b|\bshortest\b|\bsmallest\b|\btoo (?:few|short|small)\b/i,
  rounding:
    /\bround\w*|\btruncat\w*|\bfloor(?:ed|ing)\b|\bceil\b|\bdecimals?\b|\bfractions?\b|\bwhole\b|\bintegers?\b|\bnearest\b|\bprecision\b|\b(?:part|half) of an?\b|\bstarted\b|\bfull\b|\d\.\d/i,
  empty:
    /\bempty\b|\bnothing\b|\bno \w+ at all\b|\bwithout any\b|\bno(?:ne)? (?:\w+ )?(?:given|left|there|remain\w*)\b|\bblank\b|\bzero\b/i,
  missing:
    /\bmissing\b|\bnone\b|\babsent\b|\bnull\b|\bmark(?:s|ed)? .{0,300}(?:fail|missing)|\bfailed\b|\bno data\b|\bdid not\b/i,
  invalid:
    /\binvalid\b|\bunknown\b|\bunexpected\b|\bunsupported\b|\bnot (?:valid|known|recogni[sz]ed|allowed)\b|\bmalformed\b|\bgarbage\b|\bnonsense\b|\berrors?\b|\bany other\b|\bsuch as\b/i,
  unit: /\b(?:what|which|in|of) (?:\w+ )?units?\b|\bcurrency\b|\bmeasured in\b|\btenths?\b|\bin (?:euros?|cents?|dollars?|grams?|kilos?|kilograms?|minutes?|hours?|seconds?|degrees?|met(?:er|re)s?|percent)\b/i,
  ties: /\bties?\b|\btied\b|\bsame (?:\w+ )?(?:score|number|points|count|totals?|rank|place)\b|\bequal(?:ly)?\b|\bidentical\b|\blevel\b|\bdecides?\b/i,
  order:
    /\border(?:ed|ing)?\b|\bsort(?:ed|ing)?\b|\bascending\b|\bdescending\b|\bsequence\b|\balphabet\w*|\bcomes? first\b/i,
  repetition:
    /\btwice\b|\bduplicates?\b|\brepeat\w*|\bmore than once\b|\bseveral times\b|\boverlap\w*|\bintersect\w*/i,
  case: /\b(?:upper|lower)[- ]?case\b|\bcapitals?\b|\bcase[- ](?:in)?sensitiv\w+/i,
  share: /\bpercent(?:age)?\b|\bshare\b|\bproportion\b|%/i,
  default: /\bdefaults?\b|\busual(?:ly)?\b|\bnormal(?:ly)?\b/i,
} as const satisfies Record<string, RegExp>;

const all = Object.entries(matters) as [Matter, RegExp][];

/** The matters that a text touches. */
export const mattersOf = (text: string): ReadonlySet<Matter> =>
  new Set(all.filter(([, form]) => form.test(text)).map(([matter]) => matter));
