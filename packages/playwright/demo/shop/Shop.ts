import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

/** A small shop, as the suite beside it tests it: three pages, and two mistakes that a version may have. */
export interface Shop {
  readonly url: string
  readonly close: () => Promise<void>
}

interface Version {
  /** The price of the basket is a cent too high, and the button to pay has another colour. */
  readonly isRounding: boolean
}

const style = (button: string) => `
  body { font: 15px/1.5 sans-serif; margin: 0; color: #1c2333; background: #f6f7fa }
  header { background: #1c2333; color: #fff; padding: 14px 32px; font-weight: 600 }
  main { max-width: 720px; margin: 28px auto; display: grid; gap: 12px }
  .row { background: #fff; border: 1px solid #dfe3ec; border-radius: 8px; padding: 14px 18px; display: flex; gap: 16px; align-items: center }
  .row b { flex: 1 }
  button, a.button { background: ${button}; color: #fff; border: 0; border-radius: 6px; padding: 9px 16px; font: inherit; text-decoration: none }
  input { font: inherit; padding: 7px 10px; border: 1px solid #b9c0d0; border-radius: 6px; flex: 1 }
  h1 { margin: 0; font-size: 22px }`

const goods = [
  ["Desk lamp", "39.00"],
  ["Notebook, ruled", "4.50"],
  ["Oak shelf", "129.00"]
] as const

const pages = ({ isRounding }: Version): Readonly<Record<string, string>> => ({
  "/": `<main><h1>Everything for the desk</h1>
    <div class="row"><input aria-label="Search" placeholder="Search"></div>
    ${goods.map(([name, price]) => `<div class="row good"><b>${name}</b><span>${price} €</span><a class="button" href="/basket">Add</a></div>`).join("")}
    <script>
      document.querySelector("input").addEventListener("input", ({ target }) => {
        for (const row of document.querySelectorAll(".good"))
          row.hidden = !row.textContent.toLowerCase().includes(target.value.toLowerCase())
      })
    </script><style>[hidden] { display: none !important }</style></main>`,
  "/basket": `<main><h1>Basket</h1>
    <div class="row"><b>Desk lamp</b><span>39.00 €</span></div>
    <div class="row"><b>Delivery</b><span>3.00 €</span></div>
    <div class="row"><b>Total</b><strong data-testid="total">${isRounding ? "42.01" : "42.00"} €</strong></div>
    <div class="row"><b></b><a class="button" href="/paid">Pay</a></div></main>`,
  "/paid": `<main><h1>Thank you</h1><div class="row"><b>Your order is on its way.</b></div></main>`
})

export const startShop = async (version: Version): Promise<Shop> => {
  const found = pages(version)
  const server = createServer((request, response) => {
    const page = found[request.url ?? ""]
    if (page === undefined) return void response.writeHead(404).end()
    response
      .writeHead(200, { "content-type": "text/html; charset=utf-8" })
      .end(
        `<!doctype html><title>Shop</title><style>${style(version.isRounding ? "#b3261e" : "#3056d3")}</style><header>Desk &amp; Co</header>${page}`
      )
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, "close")
    }
  }
}
