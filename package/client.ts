/** `probelet/client`: a client of the API, on one machine or on AWS. `docs/api.md` says what its answers mean. */

export type {
  ApiClient,
  Changing,
  CleanedUp,
  DesiredTargets,
  ManifestBatch,
  NamedTarget,
  NewTargetManifest,
  Removal,
  Replacing,
  RequestedProbes,
  RestartReport,
  ServerHealth,
  ServerVersion,
  StatusReport,
  TargetManifest,
  TargetPatch,
  TargetQuery,
  Writing,
} from '../functions/client/api-client.ts';
export type { CredentialProvider } from '../functions/client/aws-signer.ts';
export { ClientError, type ClientFault } from '../functions/client/client-error.ts';
export { type AwsSettings, type ClientSettings, probeletClient } from '../functions/client/probelet-client.ts';
export type { AwsCredentials } from '../functions/client/signature.ts';
export type { WatchedEvent, WatchQuery } from '../functions/client/watching.ts';
export type { AppliedManifest } from '../shared/api/apply-manifests.ts';
export type { EventView } from '../shared/api/routes/events.ts';
export type { TargetView } from '../shared/api/target-schema.ts';
