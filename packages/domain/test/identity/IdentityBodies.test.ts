import { CreateDeploymentToken, RotateDeploymentToken } from "@delivery/domain/deploy/DeploymentToken"
import { CreateAccountApiKey } from "@delivery/domain/identity/AccountApiKey"
import { CreateApiKey } from "@delivery/domain/identity/ApiKey"
import { AcceptInvite, CreateInvite } from "@delivery/domain/identity/Invite"
import { UpdateMember } from "@delivery/domain/identity/Member"
import { CreateTrustedPublisher } from "@delivery/domain/identity/TrustedPublisher"
import { CreateWorkspace, UpdateWorkspace } from "@delivery/domain/identity/Workspace"
import { assert, describe, it } from "@effect/vitest"
import { Option, Schema } from "effect"

const decode = <A>(schema: Schema.ConstraintDecoder<A>, body: unknown): A | undefined =>
  Option.getOrUndefined(Schema.decodeUnknownOption(schema)(body))

const publisher = {
  issuer: "https://gitlab.com",
  repositoryId: "278964",
  ownerId: "9970",
  workflow: "release.yml",
  role: "member",
  scopes: null
}

describe("bodies of the identity room", () => {
  it("trim names and ignore unknown properties", () => {
    assert.deepStrictEqual(decode(CreateWorkspace, { slug: "acme", name: " Acme ", role: "owner" }), {
      slug: "acme",
      name: "Acme"
    })
  })

  it("limit names: workspaces and persons 100, API keys 80 characters", () => {
    for (const [schema, rest, max] of [
      [CreateWorkspace, { slug: "acme" }, 100],
      [UpdateWorkspace, {}, 100],
      [AcceptInvite, { token: "itk_" }, 100],
      [CreateApiKey, {}, 80],
      [CreateAccountApiKey, { role: "viewer" }, 80]
    ] as const) {
      const named = (name: string) => decode<unknown>(schema, { ...rest, name })
      assert.deepStrictEqual(named(` ${"x".repeat(max)} `), { ...rest, name: "x".repeat(max) })
      for (const name of ["", " ", "x".repeat(max + 1), "a\nb"]) assert.isUndefined(named(name))
    }
  })

  it("name a workflow that tokens can match", () => {
    const named = (workflow: string, issuer = publisher.issuer) =>
      decode(CreateTrustedPublisher, { ...publisher, issuer, workflow }) !== undefined
    const gitHub = "https://token.actions.githubusercontent.com"
    for (const workflow of ["*", "e2e", "*.yml", "e2e.yml@main", "/e2e.yml", "a/../e2e.yml"])
      assert.isFalse(named(workflow))
    assert.deepStrictEqual([named("ci/e2e.yaml"), named("e2e.yaml", gitHub)], [true, true])
    assert.isFalse(named(".github/workflows/e2e.yml", gitHub))
  })

  it("need every field of what is created", () => {
    for (const [schema, body] of [
      [CreateWorkspace, { slug: "acme", name: "Acme" }],
      [CreateInvite, { email: "sam@example.com", role: "member" }],
      [AcceptInvite, { token: "itk_" }],
      [CreateApiKey, { name: "laptop" }],
      [CreateAccountApiKey, { name: "ci", role: "member" }],
      [UpdateMember, { role: "admin" }]
    ] as const) {
      assert.deepStrictEqual(decode<unknown>(schema, body), body)
      for (const field of Object.keys(body)) {
        const { [field as never]: _, ...rest } = body
        assert.isUndefined(decode<unknown>(schema, rest), field)
        assert.isUndefined(decode<unknown>(schema, { ...body, [field]: null }), field)
      }
    }
  })

  it("refuse a misspelt limit of a credential", () => {
    for (const [schema, body, misspelt] of [
      [CreateDeploymentToken, { name: "kubernetes" }, { allowedAddreses: ["203.0.113.0/24"] }],
      [RotateDeploymentToken, {}, { overlapSecond: 0 }],
      [CreateTrustedPublisher, publisher, { Environment: "production" }]
    ] as const) {
      assert.deepStrictEqual(decode<unknown>(schema, body), body)
      assert.isUndefined(decode<unknown>(schema, { ...body, ...misspelt }))
    }
  })

  it("take no field of a change where none is sent", () => {
    assert.deepStrictEqual(decode(UpdateWorkspace, {}), {})
    assert.isUndefined(decode(UpdateWorkspace, { name: null }))
  })

  it("let members, not account keys, be owners", () => {
    const email = "sam@example.com"
    for (const role of ["viewer", "member", "admin", "owner"]) {
      assert.isDefined(decode(CreateInvite, { email, role }))
      assert.isDefined(decode(UpdateMember, { role }))
      assert.strictEqual(decode(CreateAccountApiKey, { name: "ci", role }) !== undefined, role !== "owner")
    }
    assert.isUndefined(decode(CreateInvite, { email, role: "guest" }))
  })

  it("keep the address of an invite in lower case", () => {
    assert.deepStrictEqual(decode(CreateInvite, { email: " Sam@Example.com", role: "viewer" }), {
      email: "sam@example.com",
      role: "viewer"
    })
  })
})
