import java.awt.event.KeyEvent;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import javax.swing.JFrame;
import javax.swing.JMenu;
import javax.swing.JMenuBar;
import javax.swing.JMenuItem;
import javax.swing.JScrollPane;
import javax.swing.JTextArea;
import javax.swing.KeyStroke;
import javax.swing.SwingUtilities;

/** A text editor of Swing. Usage: java Editor.java FILE; Ctrl+S writes the text into it. */
public class Editor {
  public static void main(String[] arguments) {
    Path file = Path.of(arguments[0]);
    SwingUtilities.invokeLater(() -> open(file));
  }

  private static void open(Path file) {
    JTextArea text = new JTextArea();
    text.setDragEnabled(true);
    JMenuItem capitals = new JMenuItem("Capitals");
    capitals.addActionListener(event -> text.setText(text.getText().toUpperCase()));
    JMenuItem save = new JMenuItem("Save");
    save.setAccelerator(KeyStroke.getKeyStroke(KeyEvent.VK_S, KeyEvent.CTRL_DOWN_MASK));
    save.addActionListener(event -> write(file, text.getText()));
    JMenu menu = new JMenu("Text");
    menu.add(capitals);
    menu.add(save);
    JMenuBar menus = new JMenuBar();
    menus.add(menu);
    JFrame window = new JFrame("swing editor");
    window.setJMenuBar(menus);
    window.add(new JScrollPane(text));
    window.setSize(600, 400);
    window.setDefaultCloseOperation(JFrame.EXIT_ON_CLOSE);
    window.setVisible(true);
  }

  /** Replaces the file at once. */
  private static void write(Path file, String text) {
    Path partial = file.resolveSibling("Editor.part");
    try {
      Files.writeString(partial, text);
      Files.move(partial, file, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException error) {
      throw new RuntimeException(error);
    }
  }
}
