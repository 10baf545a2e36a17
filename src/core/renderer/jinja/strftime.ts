/** `datetime.strftime` in the C locale, of a local time without a zone. */

const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const months = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
].concat(['November', 'December']);

/** Which character fills a number to its width, or none. */
type Fill = '0' | ' ' | '';
type Field = (date: Date) => string | {number: number; width: number; fill: Fill};

function number(of: (date: Date) => number, width = 2, fill: Fill = '0'): Field {
  return (date) => ({number: of(date), width, fill});
}

function composite(format: string): Field {
  return (date) => strftime(date, format);
}

function hour12(date: Date): number {
  return date.getHours() % 12 || 12;
}

/** From 1 on. */
function dayOfYear(date: Date): number {
  const dayMs = 86_400_000;
  return Math.round((utcDay(date) - Date.UTC(date.getFullYear(), 0, 1)) / dayMs) + 1;
}

function utcDay(date: Date): number {
  return Date.UTC(date.getFullYear(), date.getMonth(), date.getDate());
}

/** Weeks since the first one that begins on the given day of the week. */
function weekOfYear(date: Date, firstDay: number): number {
  return Math.floor((dayOfYear(date) + 6 - ((date.getDay() - firstDay + 7) % 7)) / 7);
}

/** The ISO week and its year: a week belongs to the year of its Thursday. */
function isoWeek(date: Date): {year: number; week: number} {
  const thursday = new Date(date.getFullYear(), date.getMonth(), date.getDate() + 4 - (date.getDay() || 7));
  return {year: thursday.getFullYear(), week: Math.floor((dayOfYear(thursday) - 1) / 7) + 1};
}

const fields: Readonly<Record<string, Field>> = {
  a: (date) => days[date.getDay()]!.slice(0, 3),
  A: (date) => days[date.getDay()]!,
  b: (date) => months[date.getMonth()]!.slice(0, 3),
  B: (date) => months[date.getMonth()]!,
  c: composite('%a %b %e %H:%M:%S %Y'),
  C: number((date) => Math.floor(date.getFullYear() / 100)),
  d: number((date) => date.getDate()),
  D: composite('%m/%d/%y'),
  e: number((date) => date.getDate(), 2, ' '),
  f: number((date) => date.getMilliseconds() * 1000, 6),
  F: composite('%Y-%m-%d'),
  g: number((date) => isoWeek(date).year % 100),
  G: number((date) => isoWeek(date).year, 4),
  h: (date) => months[date.getMonth()]!.slice(0, 3),
  H: number((date) => date.getHours()),
  I: number(hour12),
  j: number(dayOfYear, 3),
  k: number((date) => date.getHours(), 2, ' '),
  l: number(hour12, 2, ' '),
  m: number((date) => date.getMonth() + 1),
  M: number((date) => date.getMinutes()),
  n: () => '\n',
  p: (date) => (date.getHours() < 12 ? 'AM' : 'PM'),
  P: (date) => (date.getHours() < 12 ? 'am' : 'pm'),
  r: composite('%I:%M:%S %p'),
  R: composite('%H:%M'),
  s: number((date) => Math.floor(date.getTime() / 1000), 1),
  S: number((date) => date.getSeconds()),
  t: () => '\t',
  T: composite('%H:%M:%S'),
  u: number((date) => date.getDay() || 7, 1),
  U: number((date) => weekOfYear(date, 0)),
  V: number((date) => isoWeek(date).week),
  w: number((date) => date.getDay(), 1),
  W: number((date) => weekOfYear(date, 1)),
  x: composite('%m/%d/%y'),
  X: composite('%H:%M:%S'),
  y: number((date) => date.getFullYear() % 100),
  Y: number((date) => date.getFullYear(), 4),
  z: () => '',
  Z: () => '',
  '%': () => '%',
};

const fills: Readonly<Record<string, Fill>> = {'-': '', _: ' ', '0': '0'};

/** Directives that are unknown stay as they are, as in the GNU library. */
export function strftime(date: Date, format: string): string {
  return format.replace(/%([-_0^#])?(\d*)([EO]?)([a-zA-Z%])/g, (directive, flag = '', width, _modifier, letter) => {
    const field = fields[letter as string];
    if (!field) return directive as string;
    return write(field(date), flag as string, Number(width));
  });
}

function write(value: ReturnType<Field>, flag: string, width: number): string {
  if (typeof value === 'string') {
    const text = flag === '^' ? value.toUpperCase() : value;
    return text.padStart(width, flag === '0' ? '0' : ' ');
  }
  const fill = fills[flag] ?? value.fill;
  return fill === '' ? String(value.number) : String(value.number).padStart(width || value.width, fill);
}
