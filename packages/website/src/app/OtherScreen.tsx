import { Navigate, useParams } from "@tanstack/react-router"
import type { ReactNode } from "react"
import { later } from "../ui/later.tsx"
import NotFound from "./NotFound.tsx"

/** Addresses that the API gives to things which are shown on the page of something else, or seldom looked at. */

const ProductScreen = later(() => import("../catalog/ProductScreen.tsx"))
const EnvironmentScreen = later(() => import("../catalog/EnvironmentScreen.tsx"))
const DeliveryScreen = later(() => import("../flow/DeliveryScreen.tsx"))
const MutedScreen = later(() => import("../flow/MutedScreen.tsx"))
const TestRulesScreen = later(() => import("../flow/TestRulesScreen.tsx"))
const MessageScreen = later(() => import("../agents/MessageScreen.tsx"))

type Show = (slug: string, id: string) => ReactNode

const kinds: ReadonlyArray<readonly [pattern: RegExp, show: Show]> = [
  [/^products\/([^/]+)$/, (slug, id) => <ProductScreen product={id} slug={slug} />],
  [/^(delivery)$/, (slug) => <DeliveryScreen slug={slug} />],
  [/^products\/([^/]+)\/delivery$/, (slug, product) => <DeliveryScreen product={product} slug={slug} />],
  [/^muted-(tests)$/, (slug) => <MutedScreen slug={slug} />],
  [/^products\/([^/]+)\/muted-tests$/, (slug, product) => <MutedScreen product={product} slug={slug} />],
  [/^test-(rules)$/, (slug) => <TestRulesScreen slug={slug} />],
  [/^environments\/([^/]+)$/, (slug, id) => <EnvironmentScreen environment={id} slug={slug} />],
  [/^messages\/([^/]+)$/, (slug, id) => <MessageScreen message={id} slug={slug} />],
  [/^agents\/([^/]+)$/, (slug) => <Navigate params={{ slug }} replace to="/w/$slug/agents" />],
  [
    /^teams\/([^/]+)\/(?:tags|ticket-statuses)$/,
    (slug, team) => <Navigate params={{ slug, team }} replace to="/w/$slug/teams/$team" />
  ],
  [
    /^settings\/(tags|ticket-statuses)$/,
    (slug) => <Navigate params={{ slug }} replace search={{ view: "shared" }} to="/w/$slug/teams" />
  ]
]

const OtherScreen = () => {
  const { _splat = "", slug } = useParams({ from: "/w/$slug/$" })
  for (const [pattern, show] of kinds) {
    const [, id] = pattern.exec(_splat) ?? []
    if (id !== undefined) return show(slug, id)
  }
  return <NotFound />
}

export default OtherScreen
