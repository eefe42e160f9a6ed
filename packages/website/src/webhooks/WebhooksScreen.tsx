import { useQuery } from "@tanstack/react-query"
import { Link, useParams } from "@tanstack/react-router"
import { useState } from "react"
import { actorName } from "../api/actors.ts"
import { ForAdmins } from "../api/ForAdmins.tsx"
import { Loaded } from "../api/Loaded.tsx"
import { mayAct, useRole } from "../api/session.ts"
import { Button } from "../ui/Button.tsx"
import { Header } from "../ui/Header.tsx"
import { Cell, Item } from "../ui/Item.tsx"
import { useKeys } from "../ui/keys.ts"
import { later } from "../ui/later.tsx"
import { Since } from "../ui/Since.tsx"
import { Empty } from "../ui/States.tsx"
import { webhooksQuery } from "./queries.ts"
import { WebhookState } from "./WebhookState.tsx"
import { addressOf, kindsText } from "./words.ts"

/** The addresses that are sent what happens. */

const WebhookForm = later(() => import("./WebhookForm.tsx"))

const List = ({ slug }: { readonly slug: string }) => (
  <Loaded query={useQuery(webhooksQuery(slug))} rows={4}>
    {({ webhooks }) =>
      webhooks.length === 0 ? (
        <Empty icon="webhooks" title="A webhook tells another program what happens here">
          Such as a channel in Slack when a run has failed. It is signed, sent at least once, and tried again for a day.
        </Empty>
      ) : (
        <ul aria-label="Webhooks">
          {webhooks.map((webhook) => (
            <Item
              badges={<WebhookState webhook={webhook} />}
              detail={`made by ${actorName(webhook.createdBy)}`}
              key={webhook.id}
              name={
                <Link
                  className="hover:underline"
                  params={{ slug, webhook: webhook.id }}
                  to="/w/$slug/webhooks/$webhook"
                >
                  {addressOf(
                    webhook.url,
                    webhooks.map(({ url }) => url)
                  )}
                </Link>
              }
            >
              <Cell width="wide">{kindsText(webhook)}</Cell>
              <Cell width="narrow">{webhook.format === "slack" ? "Slack" : "standard"}</Cell>
              <Cell width="narrow">
                <Since at={webhook.createdAt} never="" word="made" />
              </Cell>
            </Item>
          ))}
        </ul>
      )
    }
  </Loaded>
)

const WebhooksScreen = () => {
  const { slug } = useParams({ from: "/w/$slug/webhooks" })
  const mayManage = mayAct(useRole(slug), "admin")
  const [isMaking, setMaking] = useState(false)
  useKeys(mayManage ? [{ keys: "c", label: "New webhook", group: "Webhooks", run: () => setMaking(true) }] : [])
  return (
    <>
      <Header
        actions={
          mayManage && (
            <Button icon="plus" look="primary" onClick={() => setMaking(true)} shortcut="c">
              New webhook
            </Button>
          )
        }
        crumbs={[]}
        title="Webhooks"
      />
      <ForAdmins slug={slug} subject="Webhooks are">
        <List slug={slug} />
      </ForAdmins>
      {isMaking && <WebhookForm onClose={() => setMaking(false)} slug={slug} />}
    </>
  )
}

export default WebhooksScreen
