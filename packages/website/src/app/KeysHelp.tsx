import { Dialog } from "../ui/Dialog.tsx"
import { Kbd } from "../ui/Kbd.tsx"
import { currentKeys, everywhere, type Key, shownKeys } from "../ui/keys.ts"

/** What works everywhere comes after what this screen is about. */
const general = ["List", everywhere, "Go"]
const placeOf = (group: string): number => general.indexOf(group)

/** The keys that work on this screen. */
const KeysHelp = ({ onClose }: { readonly onClose: () => void }) => {
  const all = currentKeys()
  const isTaken = (key: Key) => key.group === everywhere && all.some((one) => one !== key && one.keys === key.keys)
  const groups = Map.groupBy(
    all.filter((key) => !isTaken(key)).toSorted((one, other) => placeOf(one.group) - placeOf(other.group)),
    ({ group }) => group
  )
  return (
    <Dialog onClose={onClose} title="Keys">
      {/* The keyboard scrolls it where it is longer than the screen. */}
      <div
        aria-label="All keys"
        className="-mx-2 flex flex-col gap-4 rounded-sm px-2 -outline-offset-2"
        role="region"
        tabIndex={0}
      >
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
