import type { DeliveryApi } from "@delivery/domain/Api"
import type { LoadedSecrets } from "@delivery/domain/deploy/Deploy"
import { Effect, Redacted } from "effect"
import type { HttpApiClient } from "effect/http-api"
import type { CallError } from "./Files.ts"

type Derived = HttpApiClient.ForApi<typeof DeliveryApi>["deploy"]

export type DeployError = CallError<typeof DeliveryApi.groups.deploy.endpoints.secrets>

/** What a deployed product asks about itself, with the token of its deployment. */
export interface DeployCalls extends Omit<Derived, "secrets"> {
  /** The current values of all secrets, and their revision: another one whenever a name or a version has changed. */
  readonly secrets: (request?: object) => Effect.Effect<LoadedSecrets, DeployError>
  /**
   * The same as a file of environment variables: of the format `env`, which shells, Compose and Node's `--env-file` read, or
   * `docker`, which `docker run --env-file` reads. Fails with `Conflict` (`not_environment_names`) where a secret cannot be
   * written so.
   */
  readonly environmentFile: (request: {
    readonly query: { readonly format: "env" | "docker" }
  }) => Effect.Effect<Redacted.Redacted, DeployError>
}

export const makeDeploy = ({ secrets, ...calls }: Derived): DeployCalls => ({
  ...calls,
  secrets: () =>
    Effect.flatMap(secrets({ headers: {}, query: {} }), (answer) =>
      Redacted.isRedacted(answer) ? Effect.die(new TypeError("The answer is a file.")) : Effect.succeed(answer)
    ),
  environmentFile: ({ query }) =>
    Effect.flatMap(secrets({ headers: {}, query }), (answer) =>
      Redacted.isRedacted(answer) ? Effect.succeed(answer) : Effect.die(new TypeError("The answer is no file."))
    )
})
