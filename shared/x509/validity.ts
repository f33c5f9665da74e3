/** The two times of a certificate, as Go's cryptobyte reads them. Whether they have passed does not matter. */
import { type Der, tags } from './der.ts';

/** Why Go refuses the times; undefined: it does not. */
export const validityProblem = (validity: Der): string | undefined => timeProblem(validity) ?? timeProblem(validity);

function timeProblem(validity: Der): string | undefined {
  if (validity.isNext(tags.utcTime))
    return isTime(validity.read(tags.utcTime), utcTime) ? undefined : 'x509: malformed UTCTime';
  if (validity.isNext(tags.generalizedTime))
    return isTime(validity.read(tags.generalizedTime), generalizedTime) ? undefined : 'x509: malformed GeneralizedTime';
  return 'x509: unsupported time format';
}

/** Seconds may be missing. */
const utcTime = /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)?(Z|[+-]\d{4})$/;
const generalizedTime = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(Z|[+-]\d{4})$/;

/** The first two-digit year of the last century, for Go's time.Parse. */
const firstOf1900 = 69;

function isTime(content: Buffer | undefined, form: RegExp): boolean {
  const [, ...parts] = form.exec(content?.toString('latin1') ?? '') ?? [];
  const [written = '', month, day, hour, minute, second = 0] = parts.slice(0, 6).map((part) => part && Number(part));
  const zone = parts[6];
  if (zone === undefined || !isZone(zone)) return false;
  const year = Number(written);
  const isShort = form === utcTime;
  const days = daysIn(isShort ? year + (year >= firstOf1900 ? 1900 : 2000) : year, Number(month));
  return Number(day) >= 1 && Number(day) <= days && Number(hour) < 24 && Number(minute) < 60 && Number(second) < 60;
}

/** As Go would write it again: never an offset of zero in digits, at most 24 hours and 59 minutes. */
function isZone(zone: string): boolean {
  if (zone === 'Z') return true;
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(3))];
  return hours <= 24 && minutes < 60 && hours + minutes > 0;
}

const daysOf = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function daysIn(year: number, month: number): number {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return month === 2 && isLeap ? 29 : (daysOf[month - 1] ?? 0);
}
