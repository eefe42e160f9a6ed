import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { doc, workspacePath, WorkspaceRef } from "../Doc.ts"
import { NotFound } from "../Errors.ts"
import { Authorization, Edge } from "../identity/Authorization.ts"
import { isPeriod, maxTrendDays, periodFields } from "../runs/CasesApi.ts"
import { Ref } from "../Text.ts"
import { DeliveryMetrics } from "./DeliveryMetrics.ts"

const query = Schema.Struct({
  product: Schema.optionalKey(
    Ref.annotate({ description: "Only this product, by slug or id. By default all products.", examples: ["shop"] })
  ),
  ...periodFields
}).check(isPeriod)

/** How well software comes to production (docs/contract.md, Delivery metrics). */
export class MetricsApi extends HttpApiGroup.make("metrics")
  .add(
    HttpApiEndpoint.get("delivery", `${workspacePath}/metrics/delivery`, {
      params: { slug: WorkspaceRef },
      query,
      success: DeliveryMetrics,
      error: NotFound
    }).annotateMerge(
      doc(
        "read",
        "Get the delivery metrics",
        `Returns the four DORA measures of the releases to environments of the class \`production\`, each with the objects behind it: how often something is released, how long commits take to production, which part of the releases failed, and how long it took to restore. A release failed if the next one of its deployment rolled back, to a version that it had before. A commit counts once, from its \`at\` to the first release of a version that has it; commits without \`at\` do not count. Releases that cleared the version do not count; those of deleted deployments do. At most ${maxTrendDays} days (400). Returns 404 if the product does not exist. Any role may call this.`
      )
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({
      title: "Metrics",
      description: "How often, how fast and how safely a workspace releases."
    })
  ) {}
