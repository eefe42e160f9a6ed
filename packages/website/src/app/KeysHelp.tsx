import { Dialog } from "../ui/Dialog.tsx"
import { Kbd } from "../ui/Kbd.tsx"
import { currentKeys, everywhere, type Key, shownKeys } from "../ui/keys.ts"

/** What works everywhere comes after what this screen is about. */
const general = ["List", everywhere, "Go"]
const placeOf = (group: string): number => general.indexOf(group)

/** Those of everywhere belong to many parts, which come in any order: theirs is that of their names. */
const order = (one: Key, other: Key): number =>
  placeOf(one.group) - placeOf(other.group) ||
  (one.group === everywhere && other.group === everywhere ? one.label.localeCompare(other.label) : 0)

/** The keys that work on this screen. */
const KeysHelp = ({ onClose }: { readonly onClose: () => void }) => {
  const all = currentKeys()
  const isTaken = (key: Key) => key.group === everywhere && all.some((one) => one !== key && one.keys === key.keys)
  const groups = Map.groupBy(all.filter((key) => !isTaken(key)).toSorted(order), ({ group }) => group)
  return (
    <Dialog onClose={onClose} read="All keys" title="Keys">
      <div className="flex flex-col gap-4 pt-1">
        {[...groups].map(([group, keys]) => (
          <section aria-label={group} key={group}>
            <h3 className="text-muted pb-1 text-xs font-medium">{group}</h3>
            <dl>
              {keys.map(({ keys, label }) => (
                <div className="flex min-h-7 items-center justify-between gap-4" key={keys}>
                  <dt>{label}</dt>
                  <dd>
                    <Kbd keys={shownKeys(keys)} />
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  )
}

export default KeysHelp
