/** How Python writes floats: the shortest digits that read back, an exponent below 1e-4 and from 1e16 on. */

/** `repr(x)` of a float. */
export function floatRepr(value: number): string {
  if (!Number.isFinite(value)) return nonFiniteText(value);
  const {sign, digits, exponent} = shortestDigits(value);
  if (exponent < -4 || exponent >= 16) return `${sign}${withPoint(digits)}e${exponentText(exponent)}`;
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, '0');
  return `${sign}${whole}.${digits.slice(exponent + 1) || '0'}`;
}

export function nonFiniteText(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  return value > 0 ? 'inf' : '-inf';
}

/** Sign and at least two digits: `+16`, `-07`. */
export function exponentText(exponent: number): string {
  return `${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

/** `digits[0].digits[1…] × 10^exponent` */
function shortestDigits(value: number): {sign: string; digits: string; exponent: number} {
  const negative = value < 0 || Object.is(value, -0);
  const [mantissa, exponent] = Math.abs(value).toExponential().split('e');
  return {sign: negative ? '-' : '', digits: mantissa!.replace('.', ''), exponent: Number(exponent)};
}

function withPoint(digits: string): string {
  return digits.length === 1 ? digits : `${digits[0]}.${digits.slice(1)}`;
}
