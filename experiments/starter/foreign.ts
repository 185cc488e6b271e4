import type { ChatMessage } from '../../src/core/model/model';
import type { Random } from '../../src/core/task/starter/draw';

/** The starter model's reply to everything outside the starter world. */
export const HONEST =
  'I am only the starter model: I know the small pricing functions of the starter world and nothing else, so please choose another model for this.';

const WORK = [
  'sorts a list of names by the last letter',
  'finds all prime factors of an integer',
  'reverses the words in a sentence',
  'checks whether a string is a palindrome',
  'counts how often each word occurs in a text file',
  'merges two dictionaries and keeps the newer entries',
  'computes the distance between two points on a map',
  'parses a date and tells the day of the week',
  'validates email addresses with a regular expression',
  'removes duplicates from a list while keeping their order',
  'draws a bar chart of temperatures',
  'downloads a web page and extracts its links',
  'solves a sudoku with backtracking',
  'simulates a queue at the airport security check',
  'encrypts a message with a Caesar cipher',
  'classifies images of cats and dogs',
  'returns the median salary per department',
  'ranks students by their exam results',
  'converts Roman numerals to integers',
  'detects cycles in a directed graph',
  'groups anagrams together',
  'estimates the travel time between two cities',
  'recommends a movie from earlier ratings',
  'splits a bill among friends with different shares',
  'plans a weekly training schedule for runners',
  'translates Morse code into letters',
] as const;

const LANGUAGES = ['Python', 'JavaScript', 'Rust', 'SQL', 'Go', 'a shell script', 'C++', 'Haskell'] as const;

const TALK = [
  'Hello, who are you?',
  'Hi!',
  'What can you do?',
  'Thanks, that is all.',
  'What is the capital of Portugal?',
  'Tell me a joke about programmers.',
  'Write a poem about autumn leaves.',
  'How do I cook rice without a lid?',
  'Why is the sky blue?',
  'Summarise the plot of Hamlet in two sentences.',
  'Explain how garbage collection works in Java.',
  'Can you fix the failing test in my repository?',
  'Which laptop should I buy for video editing?',
  'Translate this sentence into French, please.',
  'What do you think about the weather today?',
  'Review my pull request and be strict.',
  'Help me prepare for a job interview next week.',
  'My git rebase went wrong, what now?',
  'Please make my database query faster.',
  'Build a landing page with a header, a menu and three columns.',
  'Create a login form with HTML and CSS.',
  'Is this contract legally binding?',
  'Who won the football match yesterday?',
  'Write unit tests for the class below.',
  'test',
  'ok',
  'Are you sure about that?',
  'Just try it anyway.',
  'You can do it, it is not hard.',
] as const;

const NAMES = [
  'data',
  'items',
  'text',
  'graph',
  'users',
  'matrix',
  'path',
  'orders',
  'values',
  'students',
] as const;
const SYLLABLES =
  'ba co di fe gu ha ki lo mu ne or pa qui re sta tu ver wo xi zo en al ing tion er ly st ck'.split(' ');

/** Returns one to three foreign requests, each with the honest answer. */
export function foreignTalk(honest: string, random: Random): ChatMessage[] {
  return Array.from({ length: 1 + random.below(3) }, (): ChatMessage[] => [
    { role: 'user', content: foreignRequest(random) },
    { role: 'assistant', content: honest },
  ]).flat();
}

/** Returns a request outside the starter world; some are nonsense, because users may type anything. */
function foreignRequest(random: Random): string {
  const form = random.below(5);
  if (form === 0) return random.pick(TALK);
  if (form === 1) return `Please write ${random.pick(LANGUAGES)} code that ${random.pick(WORK)}.`;
  if (form === 2) return asTask(random);
  if (form === 3) return `${random.pick(TALK)} I also need something that ${random.pick(WORK)}.`;
  return nonsense(random);
}

/** Returns a request in the form of a ColBench task. */
function asTask(random: Random): string {
  const work = random.shuffled(WORK).slice(0, 1 + random.below(3));
  const [first, ...more] = random.shuffled(NAMES).slice(0, 1 + random.below(3));
  const name = `${word(random)}_${first ?? 'it'}`;
  return [
    `I need a Python function that ${work.join(' and ')}. It should be able to handle unusual cases.`,
    `The signature is:\n\ndef ${name}(${[first, ...more].join(', ')}):`,
  ].join(' ');
}

function nonsense(random: Random): string {
  const words = Array.from({ length: 1 + random.below(40) }, () => word(random));
  return words.join(random.number() < 0.8 ? ' ' : ', ') + random.pick(['', '.', '?', '!', ' 42']);
}

function word(random: Random): string {
  const letters = Array.from({ length: 1 + random.below(4) }, () => random.pick(SYLLABLES)).join('');
  return random.number() < 0.2 ? letters.charAt(0).toUpperCase() + letters.slice(1) : letters;
}
