import { PAGE_DECISIONS, type PageValues } from './decisions';

/** One trade: what its pages say, and how they usually look. */
export interface PageTrade {
  readonly name: string;
  readonly brand: string;
  readonly title: string;
  readonly about: string;
  readonly items: readonly [string, string, string, string];
  readonly openers: readonly [string, string, string];
  /** How pages of the trade look when nothing else is wanted. */
  readonly habits: PageValues;
}

/** In the order of `PAGE_DECISIONS`, separated by commas. */
function habits(list: string): PageValues {
  const values = list.split(', ');
  return Object.fromEntries(PAGE_DECISIONS.map((decision, i) => [decision, values[i]!])) as Record<
    (typeof PAGE_DECISIONS)[number],
    string
  >;
}

const openers = (place: string, offer: string, its = 'its'): PageTrade['openers'] => [
  `Please make a page for our ${place}.`,
  `Our ${place} needs a page of ${its} own.`,
  `I want people to find our ${offer} on the web.`,
];

export const PAGE_TRADES: readonly PageTrade[] = [
  {
    name: 'bakery',
    brand: 'Corner Bakery',
    title: 'Fresh bread every day',
    about: 'We bake before the town wakes up.',
    items: ['Bread', 'Rolls', 'Cake', 'Pies'],
    openers: openers('bakery', 'bread'),
    habits: habits(
      'brown, light yellow, center, medium, picture first, left, soft, two, quote, Order now, yellow, light gray',
    ),
  },
  {
    name: 'florist',
    brand: 'Green Leaf Flowers',
    title: 'Flowers for all occasions',
    about: 'We cut and bind them in the morning.',
    items: ['Roses', 'Tulips', 'Plants', 'Wreaths'],
    openers: openers('flower shop', 'flowers'),
    habits: habits(
      'dark green, light pink, left, large, picture first, right, round, four, form, Order now, pink, light green',
    ),
  },
  {
    name: 'gym',
    brand: 'Iron Gym',
    title: 'Train at any hour',
    about: 'A coach shows you how to begin.',
    items: ['Weights', 'Yoga', 'Boxing', 'Rowing'],
    openers: openers('gym', 'courses'),
    habits: habits(
      'dark gray, white, left, large, list first, right, square, four, table, Join us, red, black',
    ),
  },
  {
    name: 'hotel',
    brand: 'Hotel Seaview',
    title: 'Sleep by the sea',
    about: 'Each room looks at the water.',
    items: ['Rooms', 'Breakfast', 'Beach', 'Sauna'],
    openers: openers('hotel', 'rooms'),
    habits: habits(
      'dark blue, light blue, center, large, picture first, left, round, two, form, Book now, blue, black',
    ),
  },
  {
    name: 'museum',
    brand: 'Town Museum',
    title: 'Two thousand years of history',
    about: 'The old mill holds it all.',
    items: ['Coins', 'Maps', 'Tools', 'Paintings'],
    openers: openers('museum', 'paintings'),
    habits: habits(
      'dark purple, very light gray, right, medium, picture first, right, square, three, table, Learn more, purple, light gray',
    ),
  },
  {
    name: 'library',
    brand: 'Public Library',
    title: 'Read what you like',
    about: 'You may keep a book for a month.',
    items: ['Novels', 'Comics', 'Films', 'Games'],
    openers: openers('library', 'books'),
    habits: habits(
      'dark blue, white, left, small, list first, left, square, four, table, Join us, green, light gray',
    ),
  },
  {
    name: 'dentist',
    brand: 'Smile Dental Care',
    title: 'Healthy teeth for life',
    about: 'We explain before we drill.',
    items: ['Checks', 'Cleaning', 'Braces', 'Implants'],
    openers: openers('dentist', 'practice', 'his'),
    habits: habits(
      'dark green, white, center, small, list first, right, soft, two, form, Call us, green, light green',
    ),
  },
  {
    name: 'garage',
    brand: 'Main Street Garage',
    title: 'We repair all cars',
    about: 'Leave the key, we do the rest.',
    items: ['Tires', 'Brakes', 'Oil', 'Lights'],
    openers: openers('garage', 'repairs'),
    habits: habits(
      'dark red, very light gray, left, medium, list first, left, square, three, table, Call us, red, black',
    ),
  },
  {
    name: 'school',
    brand: 'River School',
    title: 'Learn music with friends',
    about: 'Our teachers play in the city band.',
    items: ['Piano', 'Guitar', 'Drums', 'Singing'],
    openers: openers('music school', 'lessons'),
    habits: habits(
      'dark purple, light yellow, right, large, list first, left, round, four, quote, Join us, purple, light green',
    ),
  },
  {
    name: 'farm',
    brand: 'Hill Farm',
    title: 'Milk from happy cows',
    about: 'Come and see how we live.',
    items: ['Milk', 'Cheese', 'Eggs', 'Honey'],
    openers: openers('farm', 'cheese'),
    habits: habits(
      'brown, light blue, right, small, picture first, right, soft, three, quote, Learn more, green, light green',
    ),
  },
  {
    name: 'cinema',
    brand: 'Star Cinema',
    title: 'Great films on a big screen',
    about: 'The bar opens an hour before.',
    items: ['Drama', 'Comedy', 'Classics', 'Cartoons'],
    openers: openers('cinema', 'films'),
    habits: habits(
      'dark red, light pink, center, large, picture first, left, square, three, table, Book now, pink, black',
    ),
  },
  {
    name: 'travel',
    brand: 'Blue Sky Travel',
    title: 'See the world by train',
    about: 'One of us has been there.',
    items: ['Cities', 'Mountains', 'Islands', 'Lakes'],
    openers: openers('travel office', 'trips'),
    habits: habits(
      'dark gray, light blue, right, medium, list first, right, round, two, quote, Book now, yellow, light gray',
    ),
  },
];
