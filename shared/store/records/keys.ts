/** The keys of the one table. Key order is shard order: see docs/architecture.md, Table. */
import { hash } from 'node:crypto';
import type { ProbeName } from '../../core/spec/spec.ts';
import { skBytesMax } from '../operation.ts';
import type { Key } from '../store.ts';

/** Two lower-case hex digits. */
export type Bucket = string;

const hashDigits = 16;

/** Returns the first 64 bits of the SHA-256 of `namespace/name`, in hex. */
export function targetHash(namespace: string, name: string): string {
  return hash('sha256', `${namespace}/${name}`, 'hex').slice(0, hashDigits);
}

export const bucketOf = (hash: string): Bucket => hash.slice(0, 2);

/** Returns the slice of a bucket, whose change counter the target increments: the second byte of the hash. */
export const sliceOf = (hash: string): string => hash.slice(2, 4);

export const bucketName = (index: number): Bucket => index.toString(16).padStart(2, '0');

/** Formats the buckets in [from, to) as events show them. */
export const hashRangeOf = ({ from, to }: { readonly from: number; readonly to: number }): string =>
  `${bucketName(from)}-${bucketName(to - 1)}`;

export const bucketPk = (bucket: Bucket): string => `B#${bucket}`;

/**
 * The partition of EVENT items. It is separate from the bucket's, so that loading a shard does not read event history.
 */
export const eventsPk = (bucket: Bucket): string => `E#${bucket}`;

/** The common prefix of the keys of one target's items. */
export type TargetAddress = {
  readonly pk: string;
  readonly eventsPk: string;
  readonly prefix: string;
  readonly bucket: Bucket;
  readonly slice: string;
};

export function targetAddress(namespace: string, name: string): TargetAddress {
  const hash = targetHash(namespace, name);
  const bucket = bucketOf(hash);
  return {
    pk: bucketPk(bucket),
    eventsPk: eventsPk(bucket),
    prefix: `${hash}#${namespace}/${name}#`,
    bucket,
    slice: sliceOf(hash),
  };
}

/** Returns the prefix, `<hash>#<namespace>/<name>#`, of any item of a target; EPOCH and CHECKPOINT have none. */
export function prefixOf(sk: string): string | undefined {
  const end = sk.indexOf('#', sk.indexOf('#') + 1);
  return end < 0 ? undefined : sk.slice(0, end + 1);
}

/** Whether the prefix of an address is of a target of the namespace. */
export const isOfNamespace = (prefix: string, namespace: string): boolean =>
  prefix.startsWith(`#${namespace}/`, hashDigits);

const targetEnd = 'TARGET';

export const targetKey = (at: TargetAddress): Key => ({ pk: at.pk, sk: at.prefix + targetEnd });
export const isTargetKey = ({ pk, sk }: Key): boolean => pk.startsWith('B#') && sk.endsWith(`#${targetEnd}`);
/** Returns the prefix of the target's address from a TARGET key. */
export const targetPrefix = ({ sk }: Key): string => sk.slice(0, -targetEnd.length);
export const reportKey = (at: TargetAddress): Key => ({ pk: at.pk, sk: `${at.prefix}REPORT` });
export const hangKey = (at: TargetAddress): Key => ({ pk: at.pk, sk: `${at.prefix}HANG` });
export const statusKey = (at: TargetAddress): Key => ({ pk: at.pk, sk: `${at.prefix}STATUS` });
export const probeKey = (at: TargetAddress, probe: ProbeName): Key => ({
  pk: at.pk,
  sk: boundedSortKey(`${at.prefix}PROBE#`, probe),
});
/** The sort-key prefix of a target's event history. */
export const eventPrefix = ({ prefix }: Pick<TargetAddress, 'prefix'>): string => `${prefix}EVENT#`;
/** `id` sorts by time. */
export const eventKey = (at: TargetAddress, id: string): Key => ({
  pk: at.eventsPk,
  sk: boundedSortKey(eventPrefix(at), id),
});

const latestPart = 'LATEST#';
/** The key of the transition that led to a probe's current result. The next transition replaces the item. */
export const latestKey = (at: TargetAddress, probe: ProbeName): Key => ({
  pk: at.eventsPk,
  sk: boundedSortKey(at.prefix + latestPart, probe),
});
/** The sort-key prefix of all these items of a target. */
export const latestPrefix = ({ prefix }: TargetAddress): string => prefix + latestPart;

/**
 * Text from clients, such as a container id, may exceed the limit of a sort key. The key then contains a prefix of the
 * text, which keeps the order, and a digest of the whole text, which makes it unique.
 */
function boundedSortKey(prefix: string, rest: string): string {
  const whole = prefix + rest;
  if (Buffer.byteLength(whole) <= skBytesMax) return whole;
  const digest = `~${hash('sha256', rest, 'base64url')}`;
  const bytesLeft = skBytesMax - Buffer.byteLength(prefix + digest);
  // In stream mode, the decoder omits a truncated character.
  const beginning = new TextDecoder().decode(Buffer.from(rest).subarray(0, bytesLeft), { stream: true });
  return prefix + beginning + digest;
}

export const epochKey = (bucket: Bucket): Key => ({ pk: bucketPk(bucket), sk: 'EPOCH' });
/** The entries of a large bucket are split over several items. */
export const checkpointKey = (bucket: Bucket, part = 0): Key => ({
  pk: bucketPk(bucket),
  sk: part === 0 ? 'CHECKPOINT' : `CHECKPOINT#${String(part).padStart(checkpointPartDigits, '0')}`,
});
const checkpointPartDigits = 4;
const checkpointPattern = /^CHECKPOINT(?:#(\d{4}))?$/;

/** Returns the part number in a checkpoint's sort key, or undefined for any other sort key. */
export function checkpointPartOf(sk: string): number | undefined {
  const match = checkpointPattern.exec(sk);
  return match ? Number(match[1] ?? 0) : undefined;
}
export const runKey = (shard: string): Key => ({ pk: `RUN#${shard}`, sk: 'RUN' });
export const layoutKey: Key = { pk: 'LAYOUT', sk: 'LAYOUT' };
/**
 * In the same partition as LAYOUT but a separate item, so that writes to it during an outage do not conflict with
 * writes to the layout.
 */
export const noHolderKey: Key = { pk: layoutKey.pk, sk: 'NOHOLDER' };
/** All weights are in one partition, so that the schedule reads those of the whole fleet with one Query. */
export const weightsPk = 'WEIGHT';
export const weightKey = (bucket: Bucket): Key => ({ pk: weightsPk, sk: bucket });
export const changesPk = 'CHANGES';
export const changesKey = (bucket: Bucket): Key => ({ pk: changesPk, sk: bucket });

/** Sorts after every character that a name can contain; used as the upper bound of a prefix query. */
export const prefixEnd = '\u{10ffff}';
