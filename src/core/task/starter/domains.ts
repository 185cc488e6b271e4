import type { DecisionKind } from './kinds';

/** One trade whose tasks speak of its own things and usually turn on the same decisions. */
export interface Domain {
  readonly name: string;
  readonly functions: readonly string[];
  /** Name of the parameter that is counted, and the word for one unit of it. */
  readonly quantity: string;
  readonly one: string;
  /** The thing to which an entry of a list of quantities belongs. */
  readonly entry: string;
  /** The thing that the function works out. */
  readonly result: string;
  /** Words for a discount, a fee and the extra beyond a threshold. */
  readonly discount: string;
  readonly fee: string;
  readonly extra: string;
  /** Beginnings of the request, in the words of a colleague. */
  readonly openers: readonly string[];
  /**
   * Decisions that occur here, with their weights in the draw, and cues that there is one, which never tell its value.
   */
  readonly decisions: Readonly<Partial<Record<DecisionKind, { weight: number; cues: readonly string[] }>>>;
}

export const DOMAINS: readonly Domain[] = [
  {
    name: 'parking',
    functions: ['parking_bill', 'garage_bill', 'lot_bill'],
    quantity: 'minutes',
    one: 'minute',
    entry: 'day',
    result: 'bill',
    discount: 'resident discount',
    fee: 'gate fee',
    extra: 'surcharge',
    openers: [
      'Could you write the function that works out what a driver owes at our garage?',
      'Our garage needs a new gate, and the gate needs the bill for parking.',
      'Please help me with the bill for parking in our garage.',
    ],
    decisions: {
      free: { weight: 5, cues: ['A short stop is free.', 'You do not pay for a very short stop.'] },
      maximum: { weight: 5, cues: ['Nobody pays without end.', 'A long stay has a highest price.'] },
      rounding: { weight: 4, cues: ['The gate takes no small coins.', 'We bill in whole numbers.'] },
      discount: { weight: 3, cues: ['Residents pay less.', 'People who live here get a discount.'] },
      fee: { weight: 3, cues: ['The gate has a fee too.', 'Do not forget the gate fee.'] },
      order: { weight: 4, cues: ['Mind the order of the steps.', 'Be careful what comes first.'] },
    },
  },
  {
    name: 'shipping',
    functions: ['shipping_cost', 'parcel_cost', 'freight_cost'],
    quantity: 'kilos',
    one: 'kilo',
    entry: 'parcel',
    result: 'cost',
    discount: 'partner discount',
    fee: 'packing fee',
    extra: 'surcharge',
    openers: [
      'I need a function that tells our shop what it costs to send something.',
      'We send parcels every day and want to know the cost before they leave.',
      'Can you write the function for the shipping cost of our shop?',
    ],
    decisions: {
      threshold: { weight: 5, cues: ['Heavy things cost more.', 'Heavy parcels have a surcharge.'] },
      strictness: { weight: 5, cues: ['Be exact at the limit.', 'We often hit the limit exactly.'] },
      fee: { weight: 4, cues: ['Packing has a fee.', 'We charge for packing as well.'] },
      minimum: { weight: 4, cues: ['We send nothing for very little.', 'There is a lowest cost.'] },
      rounding: { weight: 3, cues: ['Show it without cents.', 'The label has room for whole numbers.'] },
      empty: { weight: 2, cues: ['Sometimes there is nothing to send.', 'The weight may be missing.'] },
    },
  },
  {
    name: 'payroll',
    functions: ['week_pay', 'shift_pay', 'month_pay'],
    quantity: 'hours',
    one: 'hour',
    entry: 'day',
    result: 'pay',
    discount: 'tax',
    fee: 'travel allowance',
    extra: 'bonus',
    openers: [
      'We pay our people by the hour, and I need a function for the pay.',
      'Could you help with payroll? I need what we owe one person.',
      'Please write the function for the pay of our people.',
    ],
    decisions: {
      threshold: { weight: 5, cues: ['Long work earns a bonus.', 'Who works a lot gets a bonus.'] },
      strictness: { weight: 4, cues: ['Be exact at the limit.', 'Many people hit the limit exactly.'] },
      discount: { weight: 5, cues: ['Some tax goes off.', 'Do not forget the tax.'] },
      fee: { weight: 4, cues: ['We also pay for travel.', 'There is a travel allowance.'] },
      order: { weight: 6, cues: ['Mind the order of the steps.', 'Be careful what comes first.'] },
      minimum: { weight: 3, cues: ['Nobody leaves with very little.', 'There is a lowest pay.'] },
    },
  },
  {
    name: 'loyalty',
    functions: ['member_reward', 'visit_reward', 'club_reward'],
    quantity: 'visits',
    one: 'visit',
    entry: 'month',
    result: 'reward',
    discount: 'card deduction',
    fee: 'welcome gift',
    extra: 'bonus',
    openers: [
      'Our club wants to thank its members, so I need the reward of one member.',
      'Could you write the function for the reward that our members get?',
      'I need to know what reward a member of our club has earned.',
    ],
    decisions: {
      threshold: { weight: 5, cues: ['Who comes often gets a bonus.', 'Good members earn a bonus.'] },
      strictness: { weight: 4, cues: ['Be exact at the limit.', 'Many members hit the limit exactly.'] },
      maximum: { weight: 4, cues: ['Nobody earns without end.', 'There is a highest reward.'] },
      unit: { weight: 4, cues: ['The card counts in points.', 'Members see points, not money.'] },
      empty: { weight: 3, cues: ['Some members never come.', 'New members have nothing yet.'] },
      rounding: {
        weight: 2,
        cues: ['The card has room for whole numbers.', 'We do not give parts of a point.'],
      },
    },
  },
  {
    name: 'rental',
    functions: ['rental_price', 'tool_price', 'bike_price'],
    quantity: 'days',
    one: 'day',
    entry: 'tool',
    result: 'price',
    discount: 'member discount',
    fee: 'cleaning fee',
    extra: 'surcharge',
    openers: [
      'We rent out tools and bikes, and I need the price for a customer.',
      'Can you write a function for the price of a rental?',
      'Please work out what a customer pays when they rent from us.',
    ],
    decisions: {
      discount: { weight: 5, cues: ['Members pay less.', 'Our members get a discount.'] },
      fee: { weight: 5, cues: ['We clean everything, and that costs.', 'Do not forget the cleaning fee.'] },
      order: { weight: 6, cues: ['Mind the order of the steps.', 'Be careful what comes first.'] },
      free: { weight: 3, cues: ['A part of it is free.', 'We give some time for free.'] },
      minimum: { weight: 3, cues: ['Nobody rents for very little.', 'There is a lowest price.'] },
      maximum: { weight: 3, cues: ['A long rental has a highest price.', 'Nobody pays without end.'] },
      empty: { weight: 2, cues: ['A rental may be cancelled.', 'Sometimes nothing was rented.'] },
    },
  },
  {
    name: 'grading',
    functions: ['exam_score', 'quiz_score', 'course_score'],
    quantity: 'answers',
    one: 'answer',
    entry: 'page',
    result: 'score',
    discount: 'late penalty',
    fee: 'homework mark',
    extra: 'bonus',
    openers: [
      'I teach a course and need a function for the score of an exam.',
      'Our school needs one function for the score of every exam.',
      'Could you work out the score for the right answers in an exam?',
    ],
    decisions: {
      maximum: { weight: 5, cues: ['There is a highest score.', 'Nobody can score without end.'] },
      rounding: { weight: 5, cues: ['We give whole numbers only.', 'The school wants no decimals.'] },
      discount: { weight: 4, cues: ['Who is late loses something.', 'There is a penalty for late work.'] },
      fee: { weight: 4, cues: ['Homework counts as well.', 'Do not forget the homework.'] },
      order: { weight: 5, cues: ['Mind the order of the steps.', 'Be careful what comes first.'] },
      empty: { weight: 3, cues: ['Some students hand in nothing.', 'A page may be empty.'] },
    },
  },
  {
    name: 'invoices',
    functions: ['invoice_sum', 'shop_sum', 'sale_sum'],
    quantity: 'items',
    one: 'item',
    entry: 'day',
    result: 'sum',
    discount: 'customer discount',
    fee: 'handling fee',
    extra: 'surcharge',
    openers: [
      'I need the sum at the end of our invoices.',
      'Can you write the function that adds up an invoice for our shop?',
      'We write invoices by hand and want a function for the sum.',
    ],
    decisions: {
      discount: { weight: 5, cues: ['Good customers pay less.', 'Customers get a discount.'] },
      fee: { weight: 5, cues: ['Handling has a fee.', 'We charge for handling as well.'] },
      order: { weight: 6, cues: ['Mind the order of the steps.', 'Be careful what comes first.'] },
      threshold: { weight: 3, cues: ['Large sales cost more.', 'There is a surcharge for large sales.'] },
      strictness: { weight: 3, cues: ['Be exact at the limit.', 'We often hit the limit exactly.'] },
      empty: { weight: 3, cues: ['An invoice may be empty.', 'Sometimes nothing was sold.'] },
      minimum: { weight: 2, cues: ['We write no very small invoices.', 'There is a lowest sum.'] },
    },
  },
  {
    name: 'water',
    functions: ['water_bill', 'house_bill', 'meter_bill'],
    quantity: 'liters',
    one: 'liter',
    entry: 'month',
    result: 'bill',
    discount: 'green discount',
    fee: 'meter fee',
    extra: 'surcharge',
    openers: [
      'Our town sells water, and I need the bill for a house.',
      'Please write the function for the water bill.',
      'We read the meter every month and have to work out the bill.',
    ],
    decisions: {
      free: { weight: 5, cues: ['Some water is free.', 'You do not pay for very little water.'] },
      unit: { weight: 5, cues: ['The bill is in credits.', 'Our system counts in its own unit.'] },
      minimum: { weight: 4, cues: ['Every house pays something.', 'There is a lowest bill.'] },
      fee: { weight: 4, cues: ['The meter has a fee.', 'We charge for the meter as well.'] },
      maximum: { weight: 3, cues: ['There is a highest bill.', 'Nobody pays without end.'] },
      rounding: { weight: 2, cues: ['We bill in whole numbers.', 'Show it without cents.'] },
    },
  },
  {
    name: 'tickets',
    functions: ['ticket_price', 'show_price', 'group_price'],
    quantity: 'seats',
    one: 'seat',
    entry: 'show',
    result: 'price',
    discount: 'school discount',
    fee: 'booking fee',
    extra: 'surcharge',
    openers: [
      'Our theater sells seats, and I need the price for a group.',
      'Could you write the function for the price of our tickets?',
      'I need to tell people what their seats in the theater cost.',
    ],
    decisions: {
      discount: { weight: 5, cues: ['Schools pay less.', 'There is a discount for schools.'] },
      threshold: { weight: 5, cues: ['Large groups cost more.', 'There is a surcharge for large groups.'] },
      strictness: { weight: 5, cues: ['Be exact at the limit.', 'Many groups hit the limit exactly.'] },
      maximum: { weight: 3, cues: ['A group has a highest price.', 'Nobody pays without end.'] },
      unit: { weight: 3, cues: ['The price is in credits.', 'Our system counts in its own unit.'] },
      empty: { weight: 2, cues: ['A group may be cancelled.', 'Sometimes nobody comes.'] },
    },
  },
  {
    name: 'taxi',
    functions: ['taxi_fare', 'ride_fare', 'trip_fare'],
    quantity: 'miles',
    one: 'mile',
    entry: 'trip',
    result: 'fare',
    discount: 'airport discount',
    fee: 'pickup fee',
    extra: 'surcharge',
    openers: [
      'We drive taxis and I need the fare that a customer pays.',
      'Can you write the function for the fare of a taxi?',
      'Please work out the fare at the end of a trip.',
    ],
    decisions: {
      minimum: { weight: 5, cues: ['Nobody rides for very little.', 'There is a lowest fare.'] },
      fee: { weight: 5, cues: ['The pickup has a fee.', 'Do not forget the pickup.'] },
      rounding: { weight: 5, cues: ['Drivers have no small coins.', 'We charge whole numbers.'] },
      threshold: { weight: 3, cues: ['Long trips cost more.', 'There is a surcharge for long trips.'] },
      strictness: { weight: 3, cues: ['Be exact at the limit.', 'We often hit the limit exactly.'] },
      unit: { weight: 2, cues: ['The meter counts in its own unit.', 'The fare is in credits.'] },
    },
  },
  {
    name: 'printing',
    functions: ['print_cost', 'copy_cost', 'book_cost'],
    quantity: 'pages',
    one: 'page',
    entry: 'book',
    result: 'cost',
    discount: 'student discount',
    fee: 'binding fee',
    extra: 'surcharge',
    openers: [
      'Students print here, and I need the cost for one of them.',
      'We print books and want to know the cost before we start.',
      'Could you write the function for the cost of printing?',
    ],
    decisions: {
      free: { weight: 5, cues: ['Everybody may print a little for free.', 'Some of it is free.'] },
      discount: { weight: 5, cues: ['Students pay less.', 'There is a discount for students.'] },
      rounding: { weight: 4, cues: ['The machine takes no small coins.', 'We charge whole numbers.'] },
      empty: { weight: 4, cues: ['A book may be empty.', 'Sometimes nothing is printed.'] },
      minimum: { weight: 3, cues: ['We print nothing for very little.', 'There is a lowest cost.'] },
      maximum: { weight: 2, cues: ['A book has a highest cost.', 'Nobody pays without end.'] },
    },
  },
  {
    name: 'phone',
    functions: ['phone_charge', 'call_charge', 'plan_charge'],
    quantity: 'calls',
    one: 'call',
    entry: 'week',
    result: 'charge',
    discount: 'family discount',
    fee: 'line fee',
    extra: 'surcharge',
    openers: [
      'We sell phone plans, and I need the charge for one month.',
      'Please write the function for the charge of a phone.',
      'Can you work out what our customers pay for the phone?',
    ],
    decisions: {
      unit: { weight: 5, cues: ['We count in credits, not in money.', 'Our system counts in its own unit.'] },
      free: { weight: 5, cues: ['A plan has something for free.', 'Some of it is free.'] },
      maximum: { weight: 4, cues: ['There is a highest charge.', 'Nobody pays without end.'] },
      threshold: { weight: 3, cues: ['Who calls a lot pays more.', 'There is a surcharge for heavy use.'] },
      strictness: { weight: 3, cues: ['Be exact at the limit.', 'Many people hit the limit exactly.'] },
      discount: { weight: 3, cues: ['Families pay less.', 'There is a discount for families.'] },
      empty: { weight: 2, cues: ['Some people never use it.', 'Sometimes nobody calls.'] },
    },
  },
];
