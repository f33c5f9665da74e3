/** Names that Kubernetes accepts, by kind (apimachinery, util/validation). */
import { isIpv4, isIpv6 } from '../go/ip-literal.ts';
import { hostLengthMax, portNameLengthMax, targetNameLengthMax } from './limits.ts';

const labelLengthMax = 63;
const dnsLabel = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const qualifiedPart = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;

export const isDnsLabel = (text: string): boolean => text.length <= labelLengthMax && dnsLabel.test(text);

export const isDnsSubdomain = (text: string): boolean =>
  text.length <= targetNameLengthMax && text.split('.').every((label) => dnsLabel.test(label));

/** `name` or `prefix/name`, the prefix a DNS subdomain: keys of labels and annotations, condition types. */
export function isQualifiedName(text: string): boolean {
  const parts = text.split('/');
  const name = parts.at(-1) ?? '';
  const prefix = parts.length === 2 ? parts[0] : undefined;
  if (parts.length > 2 || (prefix !== undefined && !isDnsSubdomain(prefix))) return false;
  return name.length <= labelLengthMax && qualifiedPart.test(name);
}

export const isLabelValue = (text: string): boolean =>
  text === '' || (text.length <= labelLengthMax && qualifiedPart.test(text));

/** IANA_SVC_NAME: contains a letter, so that it cannot be read as a number. */
export const isPortName = (text: string): boolean =>
  text.length <= portNameLengthMax && dnsLabel.test(text) && /[a-z]/.test(text) && !text.includes('--');

/** Printable ASCII except `=`, which ends a name where variables are listed. */
export const isEnvName = (text: string): boolean => /^[ -<>-~]+$/.test(text);

/** Narrower than RFC 9110, because servers differ on whether `X_Y` and `X-Y` are the same. */
export const isHeaderName = (text: string): boolean => /^[-A-Za-z0-9]+$/.test(text);

/**
 * A host name, with underscores as resolvers accept them, or an address literal without brackets. The dial policy
 * decides later what may be dialed.
 */
export function isHost(text: string): boolean {
  if (isIpv4(text) || isIpv6(text)) return true;
  const name = text.endsWith('.') ? text.slice(0, -1) : text;
  return name.length <= hostLengthMax && name.split('.').every(isHostLabel);
}

const isHostLabel = (label: string): boolean =>
  label.length <= labelLengthMax && /^[A-Za-z0-9_]([-A-Za-z0-9_]*[A-Za-z0-9_])?$/.test(label);

/** A target is known by both together. */
export type TargetName = { readonly namespace: string; readonly name: string };
