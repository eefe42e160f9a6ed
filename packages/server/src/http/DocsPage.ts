import { DeliveryApi } from "@delivery/domain/Api"
import { Effect, Scope } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { HttpApiScalar } from "effect/http-api"
import { hash } from "node:crypto"

/** `GET /docs`: the page of the API description, made when it is first asked for, since its script takes 13 MiB. */
export const layer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const scope = yield* Effect.scope
    const viewer = Scope.provide(
      HttpRouter.toHttpEffect(HttpApiScalar.layer(DeliveryApi, { path: "/docs", scalar: settings })),
      scope
    )
    const page = yield* Effect.cached(Effect.uninterruptible(Effect.map(Effect.flatten(viewer), alone)))
    yield* router.add("GET", "/docs", page)
  })
)

/** The host of the viewer's makers, in links and requests of its script. Nothing resolves at a name that ends in `.invalid`. */
const makersHost = /\b(?:[a-z-]+\.)*scalar\.com\b/g
const noHost = "viewer.invalid"

/** What the viewer would ask of other hosts, or offer to send there, is off. Effect's type lacks three of these. */
const settings: HttpApiScalar.ScalarConfig & Readonly<Record<string, unknown>> = {
  withDefaultFonts: false,
  customCss: `a[href*="${noHost}"] { display: none !important }`,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: "never"
}

/** The page, which talks to this server alone, whatever its script would do, and which no other page may hold in a frame. */
const alone = (page: HttpServerResponse.HttpServerResponse): HttpServerResponse.HttpServerResponse => {
  const { body } = page
  if (body._tag !== "Uint8Array") throw new Error("The page of the API description is not a text.")
  const html = new TextDecoder().decode(body.body).replaceAll("\r\n", "\n").replaceAll(makersHost, noHost)
  const scripts = Array.from(
    html.matchAll(/<script>([\s\S]*?)<\/script>/g),
    ([, script]) => `'sha256-${hash("sha256", script!, "base64")}'`
  )
  const policy = [
    "default-src 'none'",
    `script-src ${scripts.join(" ")}`,
    "style-src 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ]
  return HttpServerResponse.html(html).pipe(
    HttpServerResponse.setHeaders({
      "content-security-policy": policy.join("; "),
      "x-frame-options": "DENY",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer"
    })
  )
}
