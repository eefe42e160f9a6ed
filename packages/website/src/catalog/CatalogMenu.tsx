import { useState } from "react"
import type { Environment } from "@delivery/domain/catalog/Environment"
import type { Product } from "@delivery/domain/catalog/Product"
import { client } from "../api/client.ts"
import { useAction } from "../api/useAction.ts"
import { buttonClass } from "../ui/Button.tsx"
import { Icon } from "../ui/Icon.tsx"
import { later } from "../ui/later.tsx"
import { Menu } from "../ui/Menu.tsx"
import { undone } from "../ui/toast.ts"
import { catalogKeys } from "./queries.ts"
import { inWordsOf } from "./unapproved.ts"

const ProductDialog = later(() => import("./ProductDialog.tsx"))
const EnvironmentDialog = later(() => import("./EnvironmentDialog.tsx"))

type Subject = Product | Environment

const isProduct = (subject: Subject): subject is Product => "type" in subject

const archive = (slug: string, subject: Subject): Promise<unknown> =>
  isProduct(subject)
    ? client.products.archive({ params: { slug, product: subject.id } })
    : client.environments.archive({ params: { slug, environment: subject.id } }).catch((thrown: unknown) => {
        throw inWordsOf(thrown, `That needs the approval of another admin. Ask for one on the page of ${subject.name}.`)
      })

const restore = (slug: string, subject: Subject): Promise<unknown> =>
  isProduct(subject)
    ? client.products.restore({ params: { slug, product: subject.id } })
    : client.environments.restore({ params: { slug, environment: subject.id } })

/** What an admin does with a product or an environment. */
const CatalogMenu = ({ slug, subject }: { readonly slug: string; readonly subject: Subject }) => {
  const [isChanging, setChanging] = useState(false)
  const { name } = subject
  const close = () => setChanging(false)
  const undo = useAction({
    act: () => restore(slug, subject),
    changes: catalogKeys(slug),
    failed: () => `${name} stays archived`
  })
  const remove = useAction({
    act: () => archive(slug, subject),
    changes: catalogKeys(slug),
    done: () => ({
      title: `${name} was archived`,
      detail: "Its deployments are inactive until it is restored. Nothing was deleted.",
      undo: () => undone(undo.mutateAsync(), `${name} is back`)
    }),
    failed: () => `${name} was not archived`
  })
  return (
    <>
      <Menu
        groups={[
          {
            items: [
              { label: "Change", onSelect: () => setChanging(true) },
              { label: "Archive", isDangerous: true, onSelect: () => remove.mutate() }
            ]
          }
        ]}
        label={name}
        trigger={(props) => (
          <button {...props} aria-label={`What to do with ${name}`} className={buttonClass("quiet")} type="button">
            <Icon name="more" />
          </button>
        )}
      />
      {isChanging && (
        <>
          {isProduct(subject) ? (
            <ProductDialog onClose={close} product={subject} slug={slug} />
          ) : (
            <EnvironmentDialog environment={subject} onClose={close} slug={slug} />
          )}
        </>
      )}
    </>
  )
}

export default CatalogMenu
