// A pause between two parts of long work, in which the page answers to a person.

/** Resolves in a task of its own. Timers would be slowed down in a tab in the background. @return {Promise<void>} */
export function pause() {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}
