/** A folder in the list, with its workflows and subfolders. */
export type FolderNode<Item> = { path: string; name: string; items: Item[]; folders: FolderNode<Item>[]; count: number }

/**
 * Builds the folder tree; a folder exists if a workflow is in it. Names are sorted alphabetically, numbers by value.
 */
export function treeOf<Item extends { name: string; folder: string | null }>(items: readonly Item[]): FolderNode<Item> {
  const root: FolderNode<Item> = { path: '', name: '', items: [], folders: [], count: 0 }
  const byPath = new Map<string, FolderNode<Item>>()
  for (const item of items) {
    let node = root
    node.count += 1
    for (const step of (item.folder ?? '').split('/').filter((part) => part !== '')) {
      const path = node.path === '' ? step : `${node.path}/${step}`
      let next = byPath.get(path)
      if (!next) {
        next = { path, name: step, items: [], folders: [], count: 0 }
        byPath.set(path, next)
        node.folders.push(next)
      }
      next.count += 1
      node = next
    }
    node.items.push(item)
  }
  sort(root)
  return root
}

function sort<Item extends { name: string }>(node: FolderNode<Item>): void {
  node.items.sort((a, b) => order.compare(a.name, b.name))
  node.folders.sort((a, b) => order.compare(a.name, b.name))
  for (const folder of node.folders) sort(folder)
}

/** All folders and their parents, sorted alphabetically. */
export function foldersIn(items: readonly { folder: string | null }[]): string[] {
  const all = new Set<string>()
  for (const { folder } of items) {
    const steps = (folder ?? '').split('/').filter((part) => part !== '')
    for (let depth = 1; depth <= steps.length; depth += 1) all.add(steps.slice(0, depth).join('/'))
  }
  return [...all].sort(order.compare)
}

/** A name that is not taken: `Report`, then `Report 2`. */
export function freeName(wanted: string, taken: readonly string[]): string {
  const names = new Set(taken)
  if (!names.has(wanted)) return wanted
  for (let count = 2; ; count += 1) {
    const name = `${wanted} ${count}`
    if (!names.has(name)) return name
  }
}

const order = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' })
