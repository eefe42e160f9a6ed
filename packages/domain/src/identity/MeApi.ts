import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { doc } from "../Doc.ts"
import { Authorization, Edge } from "./Authorization.ts"
import { Me } from "./Me.ts"

/** The caller (docs/contract.md, Identity). */
export class MeApi extends HttpApiGroup.make("me")
  .add(
    HttpApiEndpoint.get("get", "/v1/me", { success: Me }).annotateMerge(
      doc(
        "read",
        "Get the caller",
        "Returns the person, or the account API key, behind the key of this request, with the workspaces it may act in, by name."
      )
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(OpenApi.annotations({ title: "Me", description: "Who you are, to the service." })) {}
