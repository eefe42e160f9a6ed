import { useQuery } from "@tanstack/react-query"
import { client } from "../api/client.ts"
import { Loaded } from "../api/Loaded.tsx"
import { useAction } from "../api/useAction.ts"
import { Button } from "../ui/Button.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { Item } from "../ui/Item.tsx"
import { Time } from "../ui/Time.tsx"
import { archivedQuery, catalogKeys } from "./queries.ts"

interface Props {
  readonly slug: string
  readonly onClose: () => void
}

interface Archived {
  readonly kind: "Product" | "Environment"
  readonly id: string
  readonly name: string
  readonly archivedAt: string | null
}

/** Archived products and environments, with the way back. */
const ArchivedDialog = ({ onClose, slug }: Props) => {
  const query = useQuery(archivedQuery(slug))
  const restore = useAction({
    act: ({ id, kind }: Archived): Promise<{ readonly name: string }> =>
      kind === "Product"
        ? client.products.restore({ params: { slug, product: id } })
        : client.environments.restore({ params: { slug, environment: id } }),
    changes: catalogKeys(slug),
    done: ({ name }) => ({ title: `${name} is back` }),
    failed: ({ name }) => `${name} stays archived`
  })
  return (
    <Dialog onClose={onClose} title="Archived products and environments">
      <Loaded query={query} rows={3}>
        {({ environments, products }) => {
          const archived: ReadonlyArray<Archived> = [
            ...products.map((one) => ({ ...one, kind: "Product" as const })),
            ...environments.map((one) => ({ ...one, kind: "Environment" as const }))
          ]
          if (archived.length === 0) return <p className="text-muted">Nothing is archived.</p>
          return (
            <ul aria-label="Archived" className="border-border -mx-4 border-t">
              {archived.map((one) => (
                <Item
                  actions={
                    <Button
                      aria-label={`Restore ${one.name}`}
                      isBusy={restore.isPending}
                      onClick={() => restore.mutate(one)}
                    >
                      Restore
                    </Button>
                  }
                  detail={
                    <>
                      {one.kind}
                      {one.archivedAt !== null && (
                        <>
                          , archived <Time at={one.archivedAt} />
                        </>
                      )}
                    </>
                  }
                  key={one.id}
                  name={one.name}
                />
              ))}
            </ul>
          )
        }}
      </Loaded>
    </Dialog>
  )
}

export default ArchivedDialog
