import { HttpApiMiddleware } from "effect/http-api"

/** Keeps every answer out of caches, errors too: `Cache-Control: no-store` (docs/contract.md, Vault; Agent sign-in). */
export class NoStore extends HttpApiMiddleware.Service<NoStore>()("@delivery/domain/NoStore") {}
