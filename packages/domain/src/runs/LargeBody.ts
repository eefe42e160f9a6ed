import { HttpApiMiddleware } from "effect/http-api"
import type { Caller } from "../identity/Authorization.ts"

/**
 * Allows bodies of up to 32 MiB instead of 1 MiB. Whatever can be refused without the body is refused before one above 1 MiB
 * is read (docs/contract.md, Conventions).
 */
export class LargeBody extends HttpApiMiddleware.Service<LargeBody, { requires: Caller }>()(
  "@delivery/domain/runs/LargeBody"
) {}

/** What the calls that take one say of it. */
export const largeBody =
  "The body may be up to 32 MiB. Above 1 MiB, everything but the body is checked before it is read, bodies are processed one at a time, and a body with more than 1,500,000 opening brackets, commas and colons is 400: 5,000 tests with 20 attempts each, which have all fields and a file, have fewer. A property that is ignored counts as ten of them."
