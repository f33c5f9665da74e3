/** The keys of the one table. Key order is shard order: see docs/architecture.md, Table. */
import { createHash } from 'node:crypto';
import type { ProbeName } from '../core/spec.ts';
import { skBytesMax } from './operation.ts';
import type { Key } from './store.ts';

/** Two lower-case hex digits. */
export type Bucket = string;

const hashDigits = 16;

/** Hex of the first 64 bits of SHA-256 of `namespace/name`. */
export function targetHash(namespace: string, name: string): string {
  return createHash('sha256').update(`${namespace}/${name}`).digest('hex').slice(0, hashDigits);
}

export const bucketOf = (hash: string): Bucket => hash.slice(0, 2);

/** The slice of a bucket whose change counter a target moves: the hash's second byte. */
export const sliceOf = (hash: string): string => hash.slice(2, 4);

export const bucketName = (index: number): Bucket => index.toString(16).padStart(2, '0');

/** How events name the buckets in [from, to). */
export const hashRangeOf = ({ from, to }: { readonly from: number; readonly to: number }): string =>
  `${bucketName(from)}-${bucketName(to - 1)}`;

export const bucketPk = (bucket: Bucket): string => `B#${bucket}`;

/** EVENT items lie beside the bucket, not in it, so that loading a shard does not read its history. */
export const eventsPk = (bucket: Bucket): string => `E#${bucket}`;

/** What the keys of all items of one target begin with. */
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

const targetEnd = 'TARGET';

export const targetKey = (at: TargetAddress): Key => ({ pk: at.pk, sk: at.prefix + targetEnd });
export const isTargetKey = ({ pk, sk }: Key): boolean => pk.startsWith('B#') && sk.endsWith(`#${targetEnd}`);
/** Of the key of a TARGET: the prefix of the target's address. */
export const targetPrefix = ({ sk }: Key): string => sk.slice(0, -targetEnd.length);
export const reportKey = (at: TargetAddress): Key => ({ pk: at.pk, sk: `${at.prefix}REPORT` });
export const hangKey = (at: TargetAddress): Key => ({ pk: at.pk, sk: `${at.prefix}HANG` });
export const statusKey = (at: TargetAddress): Key => ({ pk: at.pk, sk: `${at.prefix}STATUS` });
export const probeKey = (at: TargetAddress, probe: ProbeName): Key => ({
  pk: at.pk,
  sk: boundedSortKey(`${at.prefix}PROBE#`, probe),
});
/** The sort keys of the history of a target begin with this. */
export const eventPrefix = ({ prefix }: TargetAddress): string => `${prefix}EVENT#`;
/** `id` sorts by time. */
export const eventKey = (at: TargetAddress, id: string): Key => ({
  pk: at.eventsPk,
  sk: boundedSortKey(eventPrefix(at), id),
});

const latestPart = 'LATEST#';
/** The transition behind the present result of a probe: one item, which the next transition replaces. */
export const latestKey = (at: TargetAddress, probe: ProbeName): Key => ({
  pk: at.eventsPk,
  sk: boundedSortKey(at.prefix + latestPart, probe),
});
/** The sort keys of all of them begin with this. */
export const latestPrefix = ({ prefix }: TargetAddress): string => prefix + latestPart;

/**
 * What clients write, an id of a container for one, may be longer than a sort key has room for. Then the key has the beginning of it, by
 * which it sorts, and a digest of all of it, by which it is unique.
 */
function boundedSortKey(prefix: string, rest: string): string {
  const whole = prefix + rest;
  if (Buffer.byteLength(whole) <= skBytesMax) return whole;
  const digest = `~${createHash('sha256').update(rest).digest('base64url')}`;
  const room = skBytesMax - Buffer.byteLength(prefix + digest);
  // As a stream: a character that is cut is left out.
  const beginning = new TextDecoder().decode(Buffer.from(rest).subarray(0, room), { stream: true });
  return prefix + beginning + digest;
}

export const epochKey = (bucket: Bucket): Key => ({ pk: bucketPk(bucket), sk: 'EPOCH' });
/** Several items where one cannot hold all entries of the bucket. */
export const checkpointKey = (bucket: Bucket, part = 0): Key => ({
  pk: bucketPk(bucket),
  sk: part === 0 ? 'CHECKPOINT' : `CHECKPOINT#${String(part).padStart(checkpointPartDigits, '0')}`,
});
const checkpointPartDigits = 4;
const checkpointPattern = /^CHECKPOINT(?:#(\d{4}))?$/;

/** Which of the bucket's checkpoints has this sort key; undefined: none. */
export function checkpointPartOf(sk: string): number | undefined {
  const match = checkpointPattern.exec(sk);
  return match ? Number(match[1] ?? 0) : undefined;
}
export const runKey = (shard: string): Key => ({ pk: `RUN#${shard}`, sk: 'RUN' });
export const layoutKey: Key = { pk: 'LAYOUT', sk: 'LAYOUT' };
/** Beside LAYOUT, but not in it: a crisis that it tells of must not stand in the way of the layout. */
export const noHolderKey: Key = { pk: layoutKey.pk, sk: 'NOHOLDER' };
/** All in one partition, so that the schedule reads the weights of the whole fleet with one Query. */
export const weightsPk = 'WEIGHT';
export const weightKey = (bucket: Bucket): Key => ({ pk: weightsPk, sk: bucket });
export const changesPk = 'CHANGES';
export const changesKey = (bucket: Bucket): Key => ({ pk: changesPk, sk: bucket });

/** Sorts after every character a name can contain: the upper bound of a prefix query. */
export const prefixEnd = '\u{10ffff}';
