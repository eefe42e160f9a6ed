import { HttpApiMiddleware } from "effect/http-api"

/** Keeps every answer, errors too, out of caches: `Cache-Control: no-store` (contract, sections 5 and 9). */
export class NoStore extends HttpApiMiddleware.Service<NoStore>()("@delivery/domain/NoStore") {}
