/** The columns of a board, until it is known what is in them. */
export const BoardSkeleton = () => (
  <div aria-busy="true" aria-label="Loading" className="flex gap-3 overflow-hidden p-3" role="status">
    {Array.from({ length: 5 }, (_, column) => (
      <div className="bg-sunken h-80 min-w-56 flex-1 rounded-lg" key={column} />
    ))}
  </div>
)
