import { DeliveryApi } from "@delivery/domain/Api"
import { TestRunPage } from "@delivery/domain/runs/TestRun"
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { handlersOf } from "../http/Handlers.ts"
import { jsonListAnswer } from "../http/JsonAnswer.ts"
import { ListTurns } from "../http/ListTurns.ts"
import { RunErasure } from "./erasure/RunErasure.ts"
import { download } from "../http/Downloads.ts"
import { SignedUrls } from "./SignedUrls.ts"
import { TestRunFiles } from "./TestRunFiles.ts"
import { TestRuns } from "./TestRuns.ts"

/** Handlers of test runs and their files. */
export const layer = handlersOf(DeliveryApi, "testRuns", (handlers) =>
  Effect.gen(function* () {
    const runs = yield* TestRuns
    const files = yield* TestRunFiles
    const erasure = yield* RunErasure
    const urls = yield* SignedUrls
    const turns = yield* ListTurns
    const page = jsonListAnswer(TestRunPage, "runs")
    // With up to 5,000 tests and their errors, a run takes its turn as long lists do.
    const get = (run: number) => Effect.andThen(turns.take, runs.get(run))
    return handlers
      .handle("list", ({ query }) =>
        Effect.map(
          runs.listJson({ ...query, mine: query.mine === "true", latest: query.latest === "true" }),
          ({ runs, ...rest }) => page(runs, rest)
        )
      )
      .handle("start", ({ payload }) => runs.start(payload))
      .handle("get", ({ params }) => get(params.run))
      .handle("finish", ({ params, payload }) => runs.finish(params.run, payload))
      .handle("delete", ({ params }) => erasure.delete(params.run))
      .handleRaw("upload", ({ params, request }) =>
        Effect.map(
          files.upload({
            run: params.run,
            path: params.path,
            contentType: request.headers["content-type"],
            contentLength: request.headers["content-length"],
            body: request.stream
          }),
          ({ created, etag, file }) =>
            HttpServerResponse.jsonUnsafe(file, { status: created ? 201 : 200, headers: { etag } })
        )
      )
      .handle("download", ({ headers, params, request }) =>
        download(files.open(params.run, params.path), headers, request.method === "HEAD")
      )
      .handle("signUrl", ({ params, payload }) => urls.sign(params.run, payload.path))
  })
)
