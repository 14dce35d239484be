/** Files out of a drop, folders walked through. */

const FILES_MAX = 5000

export async function filesOfDrop(transfer: DataTransfer): Promise<File[]> {
  // The list of items dies with the event: every entry is taken before anything is awaited.
  const entries = Array.from(transfer.items)
    .map((item) => item.webkitGetAsEntry())
    .filter((entry) => entry !== null)
  if (entries.length === 0) return [...transfer.files]
  const found: File[] = []
  for (const entry of entries) await walk(entry, found)
  return found
}

async function walk(entry: FileSystemEntry, found: File[]): Promise<void> {
  if (found.length >= FILES_MAX || entry.name.startsWith('.')) return
  if (entry.isFile) {
    found.push(
      await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject)),
    )
    return
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader()
  for (;;) {
    // A directory is read in pieces of a hundred; an empty one is the end.
    const part = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    )
    if (part.length === 0) return
    for (const child of part) await walk(child, found)
  }
}

/** Pasted files, or pasted text that looks like a report. */
export function filesOfPaste(data: DataTransfer): File[] {
  if (data.files.length > 0) return [...data.files]
  const text = data.getData('text/plain').trim()
  if (text.startsWith('<')) return [new File([text], 'pasted.xml', { type: 'text/xml' })]
  if (text.startsWith('{')) return [new File([text], 'pasted.json', { type: 'application/json' })]
  return []
}

/** Gives the browser a text to keep as a file. */
export function saveText(name: string, type: string, text: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type }))
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}
