import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, beforeAll, describe, it } from "vitest"
import { parseAllDocuments } from "yaml"
import { newDeployment } from "../../server/test/support/Http.ts"
import { apiKey, useService } from "./support/Service.ts"

/**
 * `docs/secrets.md`, as it stands: its shell commands run, and what its manifests ask of the service is asked of a real one. Docker,
 * kubectl and systemd are no part of it: what stands for them does what they do with files and arguments.
 */

const page = readFileSync(join(import.meta.dirname, "../../../docs/secrets.md"), "utf8")

const blocks = (language: string): ReadonlyArray<string> =>
  [...page.matchAll(new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``, "g"))].map(([, block]) => block!)

/** The manifest of a file that the page names in its first line. */
const manifest = (file: string): string => {
  const found = [...blocks("yaml"), ...blocks("ini")].filter((block) => block.startsWith(`# ${file}\n`))
  assert.lengthOf(found, 1)
  return found[0]!
}

const yaml = <A>(file: string): ReadonlyArray<A> => parseAllDocuments(manifest(file)).map((one) => one.toJS() as A)

const values = { DATABASE_URL: "postgres://shop:canary $1@db/shop", SESSION_KEY: "canary-session" }
const shown = `${JSON.stringify(values)}\n`

/** The product: it prints the values that it has. */
const serverJs = `const { DATABASE_URL, SESSION_KEY } = process.env
console.log(JSON.stringify({ DATABASE_URL, SESSION_KEY }))
if (process.env.DELIVERY_TOKEN ?? process.env.DELIVERY_TOKEN_FILE) process.exit(9)`

const programs = {
  // Docker takes each line of the file as it is.
  docker: `[ "$1 $2 $3 $5" = "run --rm --env-file shop" ] && while IFS= read -r line; do export "$line"; done < "$4" && exec node server.js`,
  kubectl: `echo "$*" >> kubectl.log`,
  "systemd-creds": `[ "$1 $2" = "encrypt --name=delivery_token" ] && cp "$3" "$4"`
}

describe("secrets for a product", () => {
  const server = useService()
  const home = server.home()
  let workspace = ""
  let outcome: { readonly code: number; readonly out: string; readonly err: string }

  const inPlace = (text: string): string =>
    text
      .replaceAll("https://delivery.example.com", server.baseUrl)
      .replaceAll("/workspaces/main/", `/workspaces/${workspace}/`)
  const at = (file: string): string => join(home.directory, file)
  const token = (): string => readFileSync(at("delivery_token"), "utf8")
  const starts = async (command: string, env: Readonly<Record<string, string>>) => {
    assert.deepStrictEqual(await home.script(inPlace(command), { env }), { code: 0, out: shown, err: "" })
  }

  beforeAll(async () => {
    const owner = await newDeployment(server.owner())
    workspace = owner.workspace
    const place = { product: "shop", environment: "production" }
    await owner.post("environments", { slug: "production", name: "Production", class: "production" })
    await owner.post("deployments", { ...place, baseUrl: "https://shop.example" })
    for (const [name, value] of Object.entries(values)) {
      const payload = { products: ["shop"], environments: ["production"], name, value }
      await owner.post("vault/assignments", payload, 200)
    }
    writeFileSync(at("server.js"), serverJs)
    for (const [name, script] of Object.entries(programs)) {
      writeFileSync(at(`bin/${name}`), `#!/bin/sh\n${script}\n`)
      chmodSync(at(`bin/${name}`), 0o755)
    }
    outcome = await home.script(inPlace(blocks("sh").join("\n")), { env: { DELIVERY_API_KEY: apiKey } })
  })

  it("has shell commands that work, and start the product with its values", () => {
    assert.isAbove(blocks("sh").length, 4)
    assert.deepStrictEqual(outcome, { code: 0, out: shown.repeat(3), err: "" })
    assert.match(token(), /^dtk_[0-9A-Za-z]+$/)
    assert.strictEqual(statSync(at("delivery_token")).mode & 0o777, 0o600)
    assert.strictEqual(readFileSync(at("delivery_token.cred"), "utf8"), token())
    assert.deepStrictEqual(readFileSync(at("kubectl.log"), "utf8").split("\n"), [
      "create secret generic delivery-token --from-file=token=delivery_token",
      "label secret delivery-token external-secrets.io/type=webhook",
      "apply -f shop.yaml",
      ""
    ])
  })

  it("has a file for Compose, which starts the product", async () => {
    interface Compose {
      readonly services: Readonly<Record<string, Service>>
      readonly secrets: Readonly<Record<string, { readonly file: string }>>
      readonly volumes: object
    }
    interface Service {
      readonly entrypoint: ReadonlyArray<string>
      readonly command: ReadonlyArray<string>
      readonly environment: Readonly<Record<string, string>>
      readonly secrets: ReadonlyArray<string>
      readonly volumes: ReadonlyArray<string>
    }
    const [compose] = yaml<Compose>("compose.yaml")
    const { command, entrypoint, environment, secrets, volumes } = compose!.services["shop"]!
    const [volume = "", mounted = ""] = volumes[0]!.split(":")
    assert.property(compose!.volumes, volume)
    mkdirSync(at(volume))
    const inContainer = (text: string) =>
      inPlace(text.replace(mounted, at(volume))).replace(
        /^\/run\/secrets\/(\w+)$/,
        (_, name: string) => (assert.include(secrets, name), at(compose!.secrets[name]!.file))
      )
    const env = Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, inContainer(value)]))
    const line = [...entrypoint, ...command].map(inContainer).join(" ")
    await starts(line, env)
    assert.notInclude(readFileSync(join(at(volume), "secrets"), "latin1"), "canary")
  })

  it("has manifests for External Secrets, whose requests have the values", async () => {
    interface Webhook {
      readonly url: string
      readonly method: string
      readonly headers: Readonly<Record<string, string>>
      readonly result: { readonly jsonPath: string }
      readonly secrets: ReadonlyArray<{ readonly name: string; readonly secretRef: { readonly name: string } }>
    }
    interface Manifest {
      readonly kind: string
      readonly metadata: { readonly name: string }
      readonly spec: {
        readonly provider: { readonly webhook: Webhook }
        readonly secretStoreRef: { readonly kind: string; readonly name: string }
        readonly data: ReadonlyArray<{ readonly secretKey: string; readonly remoteRef: { readonly key: string } }>
      }
    }
    const [store, external] = yaml<Manifest>("shop.yaml")
    assert.deepStrictEqual(external!.spec.secretStoreRef, { kind: store!.kind, name: store!.metadata.name })
    const { headers, method, result, secrets, url } = store!.spec.provider.webhook
    assert.deepStrictEqual(secrets, [{ name: "auth", secretRef: { name: "delivery-token" } }])
    const made = await Promise.all(
      external!.spec.data.map(async ({ remoteRef, secretKey }) => {
        const filled = (text: string) =>
          inPlace(text).replace("{{ .remoteRef.key }}", remoteRef.key).replace("{{ .auth.token }}", token())
        const answer = await fetch(filled(url), {
          method,
          headers: Object.entries(headers).map(([name, value]): [string, string] => [name, filled(value)])
        })
        assert.strictEqual(answer.status, 200)
        const body = (await answer.json()) as Readonly<Record<string, string>>
        return [secretKey, body[/^\$\.(\w+)$/.exec(result.jsonPath)![1]!]] as const
      })
    )
    assert.deepStrictEqual(Object.fromEntries(made), values)
  })

  it("has a unit for systemd, which starts the product", async () => {
    const lines = manifest("shop.service")
      .split("\n")
      .map((line) => /^(\w+)=(.*)$/.exec(line))
      .filter((line) => line !== null)
      .map(([, name = "", value = ""]) => [name, value] as const)
    const of = (name: string) => lines.filter(([one]) => one === name).map(([, value]) => value)
    const [id, source] = of("LoadCredentialEncrypted")[0]!.split(":")
    assert.strictEqual(source, "/etc/shop/delivery_token.cred")
    const state = join(home.directory, "state")
    mkdirSync(join(state, of("StateDirectory")[0]!), { recursive: true })
    const credentials = join(home.directory, "credentials")
    mkdirSync(credentials)
    writeFileSync(join(credentials, id!), readFileSync(at("delivery_token.cred")))
    const specified = (text: string) => text.replaceAll("%d", credentials).replaceAll("%S", state)
    const env = Object.fromEntries(of("Environment").map((text) => inPlace(specified(text)).split("=")))
    const command = specified(of("ExecStart")[0]!)
      .replace("/usr/local/bin/", "")
      .replace("/usr/bin/", "")
      .replace("/srv/shop/", "")
    await starts(command, env)
  })

  it("has a workflow for GitHub Actions, whose job has the values", async () => {
    interface Job {
      readonly env: Readonly<Record<string, string>>
      readonly steps: ReadonlyArray<{ readonly run?: string; readonly env?: Readonly<Record<string, string>> }>
    }
    const [workflow] = yaml<{ readonly jobs: Readonly<Record<string, Job>> }>(".github/workflows/deploy.yaml")
    const { env, steps } = workflow!.jobs["deploy"]!
    const [step, ...others] = steps.filter(({ run }) => run !== undefined)
    assert.lengthOf(others, 0)
    const all = Object.entries({ ...env, ...step!.env }).map(([name, value]) => [
      name,
      inPlace(value).replace("${{ secrets.DELIVERY_TOKEN }}", token())
    ])
    writeFileSync(at("deploy.sh"), "#!/bin/sh\nexec node server.js\n", { mode: 0o755 })
    // `npx @delivery/cli` runs the command of the package: `pnpm release:check` has it from npm.
    await starts(step!.run!.replace("npx --yes @delivery/cli", "delivery"), Object.fromEntries(all))
  })
})
