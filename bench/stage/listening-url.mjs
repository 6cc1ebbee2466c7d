/** The address that a program says it is listening on; whatever else it writes to standard output is passed over. */
export async function listeningUrl({ stdout }) {
  let written = '';
  stdout.setEncoding('utf8');
  return new Promise((resolve, reject) => {
    stdout.on('data', (chunk) => {
      written += chunk;
      const url = /listening on (http:\S+)\s/.exec(written)?.[1];
      if (url !== undefined) resolve(url);
    });
    stdout.once('end', () => reject(new Error(`It did not start: ${written}`)));
  });
}
