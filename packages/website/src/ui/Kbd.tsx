/** Keys, each in its box: `g r`, `⌘ K`. */
export const Kbd = ({ keys }: { readonly keys: string }) => (
  <span className="keys inline-flex gap-0.5">
    {keys.split(" ").map((key, index) => (
      // The same key may stand twice.
      <kbd
        className="border-border text-muted bg-surface inline-flex h-4.5 min-w-4.5 items-center justify-center rounded-sm border px-1 text-xs font-normal"
        key={`${key}${index}`}
      >
        {key}
      </kbd>
    ))}
  </span>
)
