import { DeliveryApi } from "@delivery/domain/Api"
import { TooManyRequests } from "@delivery/domain/Errors"
import { Effect, Layer } from "effect"
import { HttpEffect, HttpServerResponse } from "effect/http"
import { handlersOf } from "../http/Handlers.ts"
import { ApiKeys } from "./ApiKeys.ts"
import { Inventory } from "./Inventory.ts"
import { Invites } from "./Invites.ts"
import type { TooManyInvites } from "./Mail.ts"
import { Members } from "./Members.ts"
import { TrustedPublishers } from "./TrustedPublishers.ts"
import { Workspaces } from "./Workspaces.ts"

const ok = { ok: true } as const

const tooManyInvites = ({ message, retryAfter }: TooManyInvites) =>
  Effect.andThen(
    HttpEffect.appendPreResponseHandler((_, response) =>
      Effect.succeed(HttpServerResponse.setHeader(response, "retry-after", String(retryAfter)))
    ),
    Effect.fail(new TooManyRequests({ message }))
  )

/** The handlers of persons, workspaces, members, invites and API keys. */
export const layer = Layer.mergeAll(
  handlersOf(DeliveryApi, "me", (handlers) =>
    Effect.map(Workspaces, (workspaces) => handlers.handle("get", () => workspaces.me))
  ),

  handlersOf(DeliveryApi, "workspaces", (handlers) =>
    Effect.map(Workspaces, (workspaces) =>
      handlers
        .handle("list", () => Effect.map(workspaces.list, (workspaces) => ({ workspaces })))
        .handle("create", ({ payload }) => workspaces.create(payload))
        .handle("get", () => workspaces.get)
        .handle("update", ({ payload }) => workspaces.update(payload))
    )
  ),

  handlersOf(DeliveryApi, "members", (handlers) =>
    Effect.map(Members, (members) =>
      handlers
        .handle("list", () => Effect.map(members.list, (members) => ({ members })))
        .handle("update", ({ params, payload }) => members.update(params.member, payload))
        .handle("deactivate", ({ params, payload }) => members.deactivate(params.member, payload ?? {}))
        .handle("reactivate", ({ params }) => members.reactivate(params.member))
    )
  ),

  handlersOf(DeliveryApi, "invites", (handlers) =>
    Effect.map(Invites, (invites) =>
      handlers
        .handle("list", () => Effect.map(invites.list, (invites) => ({ invites })))
        .handle("create", ({ payload }) => Effect.catchTag(invites.create(payload), "Throttled", tooManyInvites))
        .handle("revoke", ({ params }) => invites.revoke(params.invite))
        .handle("accept", ({ payload }) => invites.accept(payload))
    )
  ),

  handlersOf(DeliveryApi, "apiKeys", (handlers) =>
    Effect.map(ApiKeys, (keys) =>
      handlers
        .handle("list", () => keys.list)
        .handle("create", ({ payload }) => keys.create(payload))
        .handle("revoke", ({ params, payload }) => Effect.as(keys.revoke(params.apiKeyId, payload ?? {}), ok))
    )
  ),

  handlersOf(DeliveryApi, "credentials", (handlers) =>
    Effect.map(Inventory, (inventory) =>
      handlers
        .handle("list", () => Effect.map(inventory.list, (credentials) => ({ credentials })))
        .handle("block", ({ params }) => inventory.block(params.credential))
        .handle("unblock", ({ params }) => inventory.unblock(params.credential))
    )
  ),

  handlersOf(DeliveryApi, "trustedPublishers", (handlers) =>
    Effect.map(TrustedPublishers, (publishers) =>
      handlers
        .handle("list", () => publishers.list)
        .handle("create", ({ payload }) => publishers.create(payload))
        .handle("delete", ({ params }) => publishers.delete(params.publisher))
    )
  ),

  handlersOf(DeliveryApi, "accountApiKeys", (handlers) =>
    Effect.map(ApiKeys, (keys) =>
      handlers
        .handle("list", () => Effect.map(keys.listAccount, (accountApiKeys) => ({ accountApiKeys })))
        .handle("create", ({ payload }) => keys.createAccount(payload))
        .handle("revoke", ({ params, payload }) => Effect.as(keys.revokeAccount(params.apiKeyId, payload ?? {}), ok))
    )
  )
)
