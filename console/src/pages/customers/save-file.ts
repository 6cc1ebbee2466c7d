/** Saves a file where the browser saves downloads. */
export function saveFile(file: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  // The browser has taken the file by then; a larger one is read from the memory that it keeps itself.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
