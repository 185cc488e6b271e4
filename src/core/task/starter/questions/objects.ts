/**
 * What the figures of twenty questions are: an animal, made of one material. Materials and animals have attributes of
 * their own, so the attributes of a figure are true of it however the two are combined.
 */

/** Of the material first, then of the animal; each decides one yes-or-no question. */
export const ATTRIBUTES = [
  'metal',
  'breaks',
  'burns',
  'soft',
  'melts',
  'transparent',
  'expensive',
  'flies',
  'water',
  'eggs',
  'hunts',
  'heavy',
  'horns',
  'fur',
  'marks',
  'night',
] as const;
export type Attribute = (typeof ATTRIBUTES)[number];

/** The attributes that are true. No two materials have the same ones. */
export const MATERIALS = {
  golden: ['metal', 'expensive'],
  iron: ['metal'],
  glass: ['breaks', 'transparent'],
  clay: ['breaks'],
  ice: ['breaks', 'melts', 'transparent'],
  chocolate: ['breaks', 'melts'],
  wax: ['burns', 'melts'],
  wooden: ['burns'],
  woollen: ['burns', 'soft'],
  silk: ['burns', 'soft', 'expensive'],
  stone: [],
} as const satisfies Readonly<Record<string, readonly Attribute[]>>;

/** Animals by where they live. No two of one place have the same attributes. */
export const ANIMALS = {
  farm: {
    bull: ['heavy', 'horns', 'fur'],
    horse: ['heavy', 'fur'],
    goat: ['horns', 'fur'],
    rabbit: ['fur'],
    cat: ['hunts', 'fur', 'night'],
    dog: ['hunts', 'fur'],
    hen: ['eggs'],
    pigeon: ['flies', 'eggs'],
  },
  forest: {
    bear: ['hunts', 'heavy', 'fur'],
    wolf: ['hunts', 'fur'],
    fox: ['hunts', 'fur', 'night'],
    lynx: ['hunts', 'fur', 'marks', 'night'],
    stag: ['heavy', 'horns', 'fur'],
    squirrel: ['fur'],
    owl: ['flies', 'eggs', 'hunts', 'night'],
    cuckoo: ['flies', 'eggs'],
  },
  savanna: {
    elephant: ['heavy'],
    lion: ['hunts', 'heavy', 'fur'],
    cheetah: ['hunts', 'fur', 'marks'],
    jackal: ['hunts', 'fur', 'night'],
    zebra: ['heavy', 'fur', 'marks'],
    gnu: ['heavy', 'horns', 'fur'],
    ostrich: ['eggs', 'heavy'],
    vulture: ['flies', 'eggs'],
  },
  sea: {
    manatee: ['water', 'heavy'],
    dolphin: ['water', 'hunts', 'heavy'],
    seal: ['water', 'hunts', 'heavy', 'fur'],
    otter: ['water', 'hunts', 'fur'],
    orca: ['water', 'hunts', 'heavy', 'marks'],
    herring: ['water', 'eggs'],
    clownfish: ['water', 'eggs', 'marks'],
    tuna: ['water', 'eggs', 'hunts', 'heavy'],
  },
  river: {
    beaver: ['water', 'fur', 'night'],
    buffalo: ['heavy', 'horns', 'fur'],
    carp: ['water', 'eggs'],
    pike: ['water', 'eggs', 'hunts'],
    crocodile: ['water', 'eggs', 'hunts', 'heavy'],
    hippo: ['water', 'heavy', 'night'],
    duck: ['flies', 'water', 'eggs'],
    heron: ['flies', 'eggs', 'hunts'],
  },
  jungle: {
    tiger: ['hunts', 'heavy', 'fur', 'marks'],
    gorilla: ['heavy', 'fur'],
    monkey: ['fur'],
    cobra: ['eggs', 'hunts'],
    parrot: ['flies', 'eggs'],
    bat: ['flies', 'fur', 'night'],
    rhino: ['heavy', 'horns'],
    ocelot: ['hunts', 'fur', 'marks', 'night'],
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, readonly Attribute[]>>>>;

export type Place = keyof typeof ANIMALS;
export const PLACES = Object.keys(ANIMALS) as readonly Place[];

export interface Figure {
  /** Material and animal, such as "wooden horse". */
  readonly name: string;
  readonly place: Place;
  /** Those that are true. */
  readonly attributes: ReadonlySet<Attribute>;
}

export const FIGURES: readonly Figure[] = PLACES.flatMap((place) =>
  Object.entries<readonly Attribute[]>(ANIMALS[place]).flatMap(([animal, ofAnimal]) =>
    Object.entries<readonly Attribute[]>(MATERIALS).map(([material, ofMaterial]) => ({
      ...{ name: `${material} ${animal}`, place },
      attributes: new Set([...ofMaterial, ...ofAnimal]),
    })),
  ),
);

interface Words {
  readonly keywords: readonly string[];
  readonly questions: readonly [string, string];
  readonly yes: string;
  readonly no: string;
}

/** Its keywords stand in no question or statement about another attribute, because the rules simulator goes by words. */
export const WORDS: Readonly<Record<Attribute, Words>> = {
  metal: {
    keywords: ['metal'],
    questions: ['Is it made of metal?', 'Is its material a metal?'],
    yes: 'it is made of metal',
    no: 'it is not made of metal',
  },
  breaks: {
    keywords: ['break', 'falls'],
    questions: ['Does it break when it falls?', 'Would it break on the floor?'],
    yes: 'it breaks when it falls',
    no: 'it does not break when it falls',
  },
  burns: {
    keywords: ['burn', 'fire'],
    questions: ['Does it burn?', 'Would it burn in a fire?'],
    yes: 'it burns',
    no: 'it does not burn',
  },
  soft: {
    keywords: ['soft'],
    questions: ['Is it soft?', 'Does it feel soft?'],
    yes: 'it is soft',
    no: 'it is not soft',
  },
  melts: {
    keywords: ['melt', 'sun'],
    questions: ['Does it melt in the sun?', 'Would the sun melt it?'],
    yes: 'it melts in the sun',
    no: 'it does not melt in the sun',
  },
  transparent: {
    keywords: ['transparent', 'see through'],
    questions: ['Can you see through it?', 'Is it transparent?'],
    yes: 'you can see through it',
    no: 'you cannot see through it',
  },
  expensive: {
    keywords: ['expensive', 'cost'],
    questions: ['Is it expensive?', 'Does it cost a lot?'],
    yes: 'it is expensive',
    no: 'it is not expensive',
  },
  flies: {
    keywords: ['fly', 'wings'],
    questions: ['Can the animal fly?', 'Does the animal use its wings to fly?'],
    yes: 'the animal can fly',
    no: 'the animal cannot fly',
  },
  water: {
    keywords: ['water', 'swim'],
    questions: ['Does the animal live in water?', 'Is water where the animal lives?'],
    yes: 'the animal lives in water',
    no: 'the animal does not live in water',
  },
  eggs: {
    keywords: ['egg'],
    questions: ['Does the animal lay eggs?', 'Do its young come from eggs?'],
    yes: 'the animal lays eggs',
    no: 'the animal does not lay eggs',
  },
  hunts: {
    keywords: ['hunt', 'hunter'],
    questions: ['Does the animal hunt?', 'Is the animal a hunter?'],
    yes: 'the animal hunts',
    no: 'the animal does not hunt',
  },
  heavy: {
    keywords: ['heavy', 'heavier', 'weigh'],
    questions: ['Is the animal heavier than a person?', 'Does the animal weigh more than a person?'],
    yes: 'the animal is heavier than a person',
    no: 'the animal is not heavier than a person',
  },
  horns: {
    keywords: ['horn', 'antler'],
    questions: ['Does the animal have horns or antlers?', 'Are there horns on the head of the animal?'],
    yes: 'the animal has horns or antlers',
    no: 'the animal has no horns or antlers',
  },
  fur: {
    keywords: ['fur', 'hair'],
    questions: ['Does the animal have fur?', 'Is there fur on the animal?'],
    yes: 'the animal has fur',
    no: 'the animal has no fur',
  },
  marks: {
    keywords: ['stripe', 'striped', 'spot', 'spotted'],
    questions: ['Does the animal have stripes or spots?', 'Is the animal striped or spotted?'],
    yes: 'the animal has stripes or spots',
    no: 'the animal has no stripes or spots',
  },
  night: {
    keywords: ['night', 'awake'],
    questions: ['Is the animal awake at night?', 'Is the night the time of the animal?'],
    yes: 'the animal is awake at night',
    no: 'the animal is not awake at night',
  },
};

/** What the collaborator says about an attribute, without a capital and a full stop. */
export const statement = (attribute: Attribute, isTrue: boolean): string =>
  isTrue ? WORDS[attribute].yes : WORDS[attribute].no;

/** The same as a sentence of a request. */
export function sentence(attribute: Attribute, isTrue: boolean): string {
  const said = statement(attribute, isTrue);
  return `${said.charAt(0).toUpperCase()}${said.slice(1)}.`;
}

/** All wordings of a reply to a question about the attribute. */
export function replies(attribute: Attribute, isTrue: boolean): readonly string[] {
  const word = isTrue ? 'yes' : 'no';
  const capital = isTrue ? 'Yes' : 'No';
  const said = sentence(attribute, isTrue).slice(0, -1);
  return [`${capital}, ${statement(attribute, isTrue)}.`, `${said}, ${word}.`];
}
