/** `@delivery/client/deploy`: a deployed product loads its own secrets, with promises or with Effect. */
export { type LoadedSecrets, loadSecrets, type LoadSecretsCallbacks, type LoadSecretsOptions } from "./LoadSecrets.ts"
export * as SecretsConfig from "./SecretsConfig.ts"
export {
  type DeploymentSecrets,
  requestSecrets,
  type SecretsAnswer,
  SecretsError,
  type SecretsRequest
} from "./SecretsRequest.ts"
