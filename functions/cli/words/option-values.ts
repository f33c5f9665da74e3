/** Values of options: whole numbers within limits, and durations. */
import { InvalidArgumentError, Option } from 'commander';

/** @param flags as commander takes them. */
export const numberOption = (
  flags: string,
  description: string,
  { min, max }: { readonly min: number; readonly max: number },
): Option =>
  new Option(flags, description).argParser((text) => {
    const number = Number(text);
    if (/^\d{1,10}$/.test(text) && number >= min && number <= max) return number;
    throw new InvalidArgumentError(`must be a whole number from ${min} to ${max}`);
  });

const unitMs: { readonly [unit: string]: number } = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
const durationMsMax = 24 * 3_600_000;

/** `500ms`, `30s`, `5m` or `1h`; a number alone counts seconds. @throws InvalidArgumentError */
export function milliseconds(text: string): number {
  const [, number = '', unit = 's'] = /^(\d{1,9})(ms|s|m|h)?$/.exec(text) ?? [];
  const ms = Number(number) * (unitMs[unit] ?? 0);
  if (number === '' || ms === 0 || ms > durationMsMax)
    throw new InvalidArgumentError('must be a duration such as 30s or 5m, of at most 24h');
  return ms;
}
