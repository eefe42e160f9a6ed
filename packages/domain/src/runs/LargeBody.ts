import { HttpApiMiddleware } from "effect/http-api"

/** Allows bodies of up to 64 MiB instead of 1 MiB (docs/contract.md, Conventions). */
export class LargeBody extends HttpApiMiddleware.Service<LargeBody>()("@delivery/domain/runs/LargeBody") {}
