import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { doc } from "../Doc.ts"
import { Authorization, Edge } from "./Authorization.ts"
import { Me } from "./Me.ts"

/** The caller (contract, section 3). */
export class MeApi extends HttpApiGroup.make("me")
  .add(
    HttpApiEndpoint.get("get", "/v1/me", { success: Me }).annotateMerge(
      doc("Who am I", "The person or account API key that the credential stands for, with its workspaces.")
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(OpenApi.annotations({ title: "Me", description: "The caller." }))
{}
