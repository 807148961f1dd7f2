// A node of roscpp that meets pliant's ROS 1 bridge, one job a run; it prints one JSON line after RESULT.
//
// Build: g++ -O1 -std=c++17 ros1_peer.cpp $(pkg-config --cflags --libs roscpp) -lpthread
// Usage: ros1_peer JOB [arguments] [remappings]
//
// The messages of sensor_msgs and std_srvs are not in every installation: what is needed of them stands here.

#include <ros/ros.h>
#include <ros/service_client_options.h>
#include <std_msgs/Float64.h>
#include <std_msgs/Float64MultiArray.h>

#include <atomic>
#include <cstring>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

// Any message: its bytes.
struct Bytes {
  std::vector<uint8_t> data;
};
struct Nothing {};
struct Answer {
  uint8_t success = 0;
  std::string message;
};

namespace ros {
namespace message_traits {
template <> struct IsMessage<Bytes> : TrueType {};
template <> struct IsMessage<const Bytes> : TrueType {};
template <> struct MD5Sum<Bytes> {
  static const char* value() { return "*"; }
  static const char* value(const Bytes&) { return "*"; }
};
template <> struct DataType<Bytes> {
  static const char* value() { return "*"; }
  static const char* value(const Bytes&) { return "*"; }
};
template <> struct Definition<Bytes> {
  static const char* value() { return ""; }
  static const char* value(const Bytes&) { return ""; }
};
}  // namespace message_traits
namespace serialization {
template <> struct Serializer<Bytes> {
  template <typename Stream> inline static void write(Stream& stream, const Bytes& m) {
    std::memcpy(stream.advance(m.data.size()), m.data.data(), m.data.size());
  }
  template <typename Stream> inline static void read(Stream& stream, Bytes& m) {
    const uint32_t size = stream.getLength();
    m.data.assign(stream.getData(), stream.getData() + size);
    stream.advance(size);
  }
  inline static uint32_t serializedLength(const Bytes& m) { return m.data.size(); }
};
template <> struct Serializer<Nothing> {
  template <typename Stream> inline static void write(Stream&, const Nothing&) {}
  template <typename Stream> inline static void read(Stream&, Nothing&) {}
  inline static uint32_t serializedLength(const Nothing&) { return 0; }
};
template <> struct Serializer<Answer> {
  template <typename Stream> inline static void write(Stream& stream, const Answer& m) {
    stream.next(m.success);
    stream.next(m.message);
  }
  template <typename Stream> inline static void read(Stream& stream, Answer& m) {
    stream.next(m.success);
    stream.next(m.message);
  }
  inline static uint32_t serializedLength(const Answer& m) { return 5 + m.message.size(); }
};
}  // namespace serialization
}  // namespace ros

static const char* TRIGGER_SUM = "937c9679a518e3a18d831e57125ea522";  // std_srvs/Trigger

static uint32_t first(const Bytes& m) {  // header.seq, where a message begins with a header
  uint32_t value = 0;
  if (m.data.size() >= 4) std::memcpy(&value, m.data.data(), 4);
  return value;
}

// Wait in wall time: the simulation may be paused.
template <typename Condition> static bool until(Condition condition, double seconds = 60.0) {
  const ros::WallTime end = ros::WallTime::now() + ros::WallDuration(seconds);
  while (!condition() && ros::WallTime::now() < end && ros::ok()) ros::WallDuration(0.005).sleep();
  return condition();
}

// listen TOPIC COUNT HINT: COUNT messages with running numbers; HINT is plain, nodelay, or both (udp, then tcp).
static std::string listen(ros::NodeHandle& node, const std::string& topic, uint32_t count, const std::string& hint) {
  std::atomic<uint32_t> received{0}, missing{0}, last{0};
  ros::TransportHints hints;
  if (hint == "nodelay") hints.tcpNoDelay();
  if (hint == "both") hints.unreliable().reliable();
  auto heard = [&](const boost::shared_ptr<Bytes const>& m) {
    const uint32_t seq = first(*m);
    if (received) missing += seq - last - 1;
    last = seq;
    ++received;
  };
  ros::Subscriber subscriber = node.subscribe<Bytes>(topic, 20000, boost::function<void(const boost::shared_ptr<Bytes const>&)>(heard),
                                                     ros::VoidConstPtr(), hints);
  until([&] { return received >= count; });
  std::ostringstream out;
  out << "{\"received\": " << received << ", \"missing\": " << missing << ", \"publishers\": " << subscriber.getNumPublishers() << "}";
  return out.str();
}

// udp TOPIC: ask for UDPROS alone; nothing can come.
static std::string udp(ros::NodeHandle& node, const std::string& topic) {
  std::atomic<uint32_t> received{0};
  auto heard = [&](const boost::shared_ptr<Bytes const>&) { ++received; };
  ros::Subscriber subscriber = node.subscribe<Bytes>(topic, 10, boost::function<void(const boost::shared_ptr<Bytes const>&)>(heard),
                                                     ros::VoidConstPtr(), ros::TransportHints().unreliable());
  until([&] { return received > 0; }, 1.0);
  return "{\"received\": " + std::to_string(received) + "}";
}

// latched TOPIC: what was sent before this node was there.
static std::string latched(ros::NodeHandle& node, const std::string& topic) {
  std::atomic<uint32_t> received{0}, bytes{0};
  auto heard = [&](const boost::shared_ptr<Bytes const>& m) {
    bytes = m->data.size();
    ++received;
  };
  ros::Subscriber subscriber = node.subscribe<Bytes>(topic, 10, boost::function<void(const boost::shared_ptr<Bytes const>&)>(heard));
  until([&] { return received > 0; });
  return "{\"received\": " + std::to_string(received) + ", \"bytes\": " + std::to_string(bytes) + "}";
}

// service NAME COUNT: call a persistent service, then the same once more with a connection of its own.
static std::string service(ros::NodeHandle& node, const std::string& name, int count) {
  if (!ros::service::waitForService(name, 60000)) return "{\"found\": false}";
  int good = 0;
  std::string message;
  Nothing request;
  Answer answer;
  {
    ros::ServiceClientOptions options(name, TRIGGER_SUM, true, ros::M_string());
    ros::ServiceClient client = node.serviceClient(options);
    for (int i = 0; i < count && client.isValid(); ++i) good += client.call(request, answer, TRIGGER_SUM) && answer.success;
    message = answer.message;
  }
  ros::ServiceClientOptions options(name, TRIGGER_SUM, false, ros::M_string());
  ros::ServiceClient client = node.serviceClient(options);
  const bool once = client.call(request, answer, TRIGGER_SUM) && answer.success;
  ros::ServiceClientOptions wrong(name, "00000000000000000000000000000000", false, ros::M_string());
  const bool refused = !node.serviceClient(wrong).call(request, answer, "00000000000000000000000000000000");
  return "{\"found\": true, \"good\": " + std::to_string(good) + ", \"once\": " + (once ? "true" : "false") + ", \"refused\": " +
         (refused ? "true" : "false") + ", \"message\": \"" + message + "\"}";
}

// drive COMMAND STATE COUNT: answer COUNT states, each with a reference, as a controller does.
static std::string drive(ros::NodeHandle& node, const std::string& command, const std::string& state, uint32_t count) {
  ros::Publisher publisher = node.advertise<std_msgs::Float64MultiArray>(command, 100);
  std::atomic<uint32_t> received{0};
  auto heard = [&](const boost::shared_ptr<Bytes const>&) {
    if (received < count) {
      std_msgs::Float64MultiArray reference;
      reference.data.assign(1, 0.001 * received);
      publisher.publish(reference);
    }
    ++received;
  };
  ros::Subscriber subscriber = node.subscribe<Bytes>(state, 1000, boost::function<void(const boost::shared_ptr<Bytes const>&)>(heard),
                                                     ros::VoidConstPtr(), ros::TransportHints().tcpNoDelay());
  const bool all = until([&] { return received >= count; });
  return std::string("{\"answered\": ") + (all ? "true" : "false") + ", \"received\": " + std::to_string(received) + "}";
}

// block TOPIC SECONDS: subscribe and do not read the socket; the callback sleeps and the queue is short.
static std::string block(ros::NodeHandle& node, const std::string& topic, double seconds) {
  std::atomic<uint32_t> received{0};
  auto heard = [&](const boost::shared_ptr<Bytes const>&) {
    ++received;
    ros::WallDuration(0.2).sleep();
  };
  ros::Subscriber subscriber = node.subscribe<Bytes>(topic, 1, boost::function<void(const boost::shared_ptr<Bytes const>&)>(heard));
  until([&] { return false; }, seconds);
  return "{\"received\": " + std::to_string(received) + "}";
}

// about: names after remapping, parameters, simulated time.
static std::string about(ros::NodeHandle& node) {
  bool simulated = false;
  std::string space;
  ros::param::get("/use_sim_time", simulated);
  ros::param::get("/namespace", space);
  until([&] { return ros::Time::now().toSec() > 0.0; });
  const double before = ros::Time::now().toSec();
  ros::Duration(0.2).sleep();  // simulated seconds
  std::ostringstream out;
  out << "{\"node\": \"" << ros::this_node::getName() << "\", \"resolved\": \"" << node.resolveName("states") << "\", \"use_sim_time\": "
      << (simulated ? "true" : "false") << ", \"namespace\": \"" << space << "\", \"slept\": " << ros::Time::now().toSec() - before << "}";
  return out.str();
}

int main(int argc, char** argv) {
  ros::init(argc, argv, "ros1_peer", ros::init_options::AnonymousName | ros::init_options::NoSigintHandler);
  ros::NodeHandle node;
  ros::AsyncSpinner spinner(1);
  spinner.start();
  const std::vector<std::string> words(argv + 1, argv + argc);
  const std::string job = words.empty() ? "" : words[0];
  auto word = [&](size_t i) { return i < words.size() ? words[i] : std::string("0"); };
  std::string said = "{}";
  if (job == "listen") said = listen(node, word(1), std::stoul(word(2)), word(3));
  if (job == "udp") said = udp(node, word(1));
  if (job == "latched") said = latched(node, word(1));
  if (job == "service") said = service(node, word(1), std::stoi(word(2)));
  if (job == "drive") said = drive(node, word(1), word(2), std::stoul(word(3)));
  if (job == "block") said = block(node, word(1), std::stod(word(2)));
  if (job == "about") said = about(node);
  std::cout << "RESULT " << said << std::endl;
  spinner.stop();
  return 0;
}
