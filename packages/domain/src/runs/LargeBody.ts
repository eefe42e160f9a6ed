import { HttpApiMiddleware } from "effect/http-api"

/** Lets the body of an endpoint have 64 MiB instead of 1 MiB (contract, section 1). */
export class LargeBody extends HttpApiMiddleware.Service<LargeBody>()("@delivery/domain/runs/LargeBody") {}
